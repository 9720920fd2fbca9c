/** What the compiler must take and refuse of `crm-server/documents`: `npm run types` fails where a line that is to fail does not. */
import type { ApolloClient } from '@apollo/client';
import type { Client } from '@urql/core';
import {
  ContactDocument,
  ContactEventsDocument,
  type ContactFieldsFragment,
  ContactsDocument,
  type ContactsQueryVariables,
  CreateContactDocument,
  LiveDealsDocument,
  MoveDealDocument,
} from 'crm-server/documents';
import type { GraphQLClient } from 'graphql-request';

export async function asked(apollo: ApolloClient, urql: Client, plain: GraphQLClient, id: string): Promise<unknown> {
  const { data } = await apollo.query({ query: ContactsDocument, variables: { filter: { search: 'Ada' }, first: 10 } });
  const people: readonly ContactFieldsFragment[] | undefined = data?.contacts.nodes;
  const one = await urql.query(ContactDocument, { id });
  const name: string | null | undefined = one.data?.contact?.name;
  const made = await plain.request(CreateContactDocument, { input: { firstName: 'Ada' } });
  const email: string | null | undefined = made.createContact.email;
  // @ts-expect-error: a search is text
  await apollo.query({ query: ContactsDocument, variables: { filter: { search: 1 } } });
  // @ts-expect-error: a contact is asked for by its id
  await plain.request(ContactDocument, {});
  // @ts-expect-error: a contact has no such field
  await plain.request(CreateContactDocument, { input: { fistName: 'Ada' } });
  // @ts-expect-error: a deal goes to a stage
  await apollo.mutate({ mutation: MoveDealDocument, variables: { id } });
  // @ts-expect-error: the document does not select it
  made.createContact.zip;
  // @ts-expect-error: there is none where the id is unknown
  one.data?.contact.name;
  return [people, name, email];
}

export function followed(apollo: ApolloClient): void {
  apollo.subscribe({ query: ContactEventsDocument }).subscribe(({ data }) => {
    const position: string | undefined = data?.contactEvents.id;
    // @ts-expect-error: the contact is gone after a delete
    const nameOf: string | null = data!.contactEvents.contact.name;
    return [position, nameOf];
  });
  apollo.subscribe({ query: LiveDealsDocument, variables: { first: 10 } }).subscribe(({ data }) => {
    const titles: (string | undefined)[] | undefined = data?.live.deals.rows.map(({ node }) => node?.title);
    // @ts-expect-error: a record that only moved is not told again
    const values = data?.live.deals.rows.map(({ node }) => node.value);
    return [titles, values];
  });
}

export const next: ContactsQueryVariables = { after: 'cursor', orderBy: [{ lastName: 'asc' }] };
// @ts-expect-error: lists are not sorted by what they do not know
export const wrong: ContactsQueryVariables = { orderBy: [{ nam: 'ASC' }] };
