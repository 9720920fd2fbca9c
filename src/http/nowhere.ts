import type { FastifyRequest } from 'fastify';
import { html } from '../kernel/base/html.js';
import { htmlPage } from '../kernel/module/page.js';
import type { RawReply } from '../kernel/module/routes.js';
import { acceptedIn } from './acceptHeader.js';

/** What programs call, whatever they say that they accept: errors there are the API's. */
const apis = /^\/(api|graphql)(\/|\?|$)/;

/** Whether a person looks for a page at an address where nothing is. */
export const isLost = ({ is404, method, url, headers }: FastifyRequest): boolean =>
  is404 && ['GET', 'HEAD'].includes(method) && !apis.test(url) && acceptedIn(headers.accept ?? '', 20).some(isHtml);

const isHtml = ({ name, q }: { name: string; q: number }) => name === 'text/html' && q > 0;

/** What they see there, with a way to the nearest page that there is. */
export function nowhere({ url, server }: FastifyRequest): RawReply {
  const ways = (url.startsWith('/board') ? ['/board', '/'] : ['/']).filter((way) => server.hasRoute({ method: 'GET', url: way }));
  const [way] = ways;
  const page = htmlPage(
    'There is no page here',
    html`<p>The address may be mistyped, or what was here is gone.</p>${way && html`<p><a href="${way}">${way === '/' ? 'Start' : 'The board'}</a></p>`}`,
  );
  return { ...page, status: 404, headers: { ...page.headers, Vary: 'Accept' } };
}
