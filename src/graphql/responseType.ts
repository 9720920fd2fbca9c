import { acceptedIn } from '../http/acceptHeader.js';

/** The media type of GraphQL over HTTP, under which a status tells whether there are data. */
export const graphqlResponse = 'application/graphql-response+json';

/** How much a client wants a media type, by its Accept header, and where it names it; undefined where it does not. */
function weightOf(accept: string, type: string): { q: number; at: number } | undefined {
  const entries = acceptedIn(accept);
  const at = entries.findIndex(({ name }) => name === type);
  return at < 0 ? undefined : { q: entries[at]!.q, at };
}

/** Whether a client names the type of GraphQL over HTTP, and prefers it to plain JSON: of two that it likes as much, the first. */
export function wantsGraphqlResponse(accept: string | undefined): boolean {
  const wanted = accept === undefined ? undefined : weightOf(accept, graphqlResponse);
  if (!wanted || wanted.q === 0) return false;
  const json = weightOf(accept!, 'application/json');
  return !json || wanted.q > json.q || (wanted.q === json.q && wanted.at < json.at);
}

/** Whether a client wants a page to look at: a browser that was led here. */
export const wantsPage = (accept: string | undefined): boolean => {
  const page = accept === undefined ? undefined : weightOf(accept, 'text/html');
  return page !== undefined && page.q > 0;
};
