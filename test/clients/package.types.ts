/** What the compiler must take and refuse of `crm-server/client`: `npm run types` fails where a line that is to fail does not. */
import { applyLive, type CrmError, createRest, errorOf, type LiveChanges } from '../../src/client/index.js';

const rest = createRest({ url: 'http://127.0.0.1:4000', key: 'key' });

export async function calls(id: string): Promise<unknown> {
  const one = await rest.GET('/contacts/{id}', { params: { path: { id } } });
  const name: string | null | undefined = one.data?.data.firstName;
  const made = await rest.POST('/contacts', { body: { firstName: 'Ada', tags: ['VIP'] } });
  const many = await rest.GET('/contacts', { params: { query: { per_page: 2, search: 'Ada' } } });
  // @ts-expect-error: there is no such path
  await rest.GET('/contactz');
  // @ts-expect-error: the path has an id
  await rest.GET('/contacts/{id}', {});
  // @ts-expect-error: a first name is text
  await rest.POST('/contacts', { body: { firstName: 1 } });
  // @ts-expect-error: tags are a list
  await rest.PATCH('/contacts/{id}', { params: { path: { id } }, body: { tags: 'VIP' } });
  // @ts-expect-error: the list knows no such parameter
  await rest.GET('/contacts', { params: { query: { searched: 'Ada' } } });
  // @ts-expect-error: contacts cannot be put
  await rest.PUT('/contacts', { body: {} });
  // @ts-expect-error: a contact has no such field
  made.data?.data.lastNamed;
  return [name, many.data?.data.meta.next_cursor];
}

/** Every code must be dealt with. */
export function words(error: CrmError): string {
  switch (error.code) {
    case 'invalid_request':
    case 'validation_failed':
      return error.details.map(({ field, message }) => `${field} ${message}`).join(', ');
    case 'rate_limited':
    case 'unavailable':
      return `again in ${error.retryAfter} s`;
    case 'no_answer':
      return String(error.cause);
    // @ts-expect-error: there is no such code
    case 'invalid_requests':
      return '';
    default:
      // @ts-expect-error: only what names fields has details
      return error.details;
  }
}

const page: LiveChanges<{ title: string }> = { isWhole: true, rows: [], removed: [] };
export const titles: string[] = applyLive([], page).map(({ node }) => node.title);
// @ts-expect-error: the records of a page are of one type
export const numbers: number[] = applyLive([], page).map(({ node }) => node.title);
// @ts-expect-error: an error has a code of the server's
export const isKnown = errorOf(null).code === 'nothing_of_ours';
