import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { apolloCache, urqlKeys } from '../../src/client/index.js';
import type { Account, Loose, TestServer } from '../support/index.js';
import { keyHolder } from '../support/resumeLine.js';

/** Loads a package outside Jest, as Node does: Jest would take the CommonJS build of one of Apollo's own packages. */
declare const importBuilt: <T>(name: string) => Promise<T>;

const { ApolloClient, gql, HttpLink, InMemoryCache } = await importBuilt<typeof import('@apollo/client')>('@apollo/client');

let crm: TestServer;
let acme: Account;
let url: string;
let secret: string;
const ids: Record<string, string> = {};
beforeAll(async () => {
  ({ crm, acme, url, secret } = await keyHolder());
  for (const lastName of ['1', '2', '3', '4']) ids[lastName] = (await acme.contact({ firstName: 'Kept', lastName })).id as string;
});
afterAll(() => crm.close());

const fresh = () => {
  const cache = new InMemoryCache(apolloCache);
  const link = new HttpLink({ uri: `${url}/graphql`, headers: { authorization: `Bearer ${secret}` } });
  return { cache, client: new ApolloClient({ link, cache }) };
};
let { cache, client } = fresh();
beforeEach(() => {
  ({ cache, client } = fresh());
});

const rows = 'nodes { id lastName } edges { node { id lastName } } totalCount pageInfo { endCursor hasNextPage }';
const list = (after = '') =>
  gql(`{ contacts(filter: { search: "Kept" }, sort: lastName, first: 2${after && `, after: "${after}"`}) { ${rows} } }`);
const ask = async (after?: string) => (await client.query<Loose>({ query: list(after) })).data!.contacts;
const kept = (): Loose => cache.readQuery<Loose>({ query: list() })!.contacts;
const names = ({ nodes, edges }: Loose) => {
  const all = nodes.map(({ lastName }: Loose) => lastName).join('');
  expect(edges.map(({ node }: Loose) => node.lastName).join('')).toBe(all);
  return all;
};

describe('a record that is evicted', () => {
  it('is in no list any more, whether it is selected by nodes or edges, and the list still reads', async () => {
    const { pageInfo } = await ask();
    await ask(pageInfo.endCursor);
    expect(names(kept())).toBe('1234');
    cache.evict({ id: `Contact:${ids[2]}` });
    cache.gc();
    expect(names(kept())).toBe('134');
    expect(names(cache.readQuery<Loose>({ query: list(pageInfo.endCursor) })!.contacts)).toBe('34');
  });
});

describe('cache.modify of a list', () => {
  const ref = (lastName: string) => ({ __ref: `Contact:${ids[lastName]}` });
  const write = (lastName: string) =>
    cache.writeFragment({
      fragment: gql('fragment Row on Contact { id lastName }'),
      data: { __typename: 'Contact', id: ids[lastName], lastName },
    });

  it('puts a record into it and takes one out by the usual recipe, and pages that come next are added', async () => {
    const { pageInfo } = await ask();
    write('4');
    cache.modify({
      fields: {
        contacts: (list: Loose, { readField }: Loose) => ({
          ...list,
          totalCount: list.totalCount + 1,
          nodes: [ref('4'), ...list.nodes.filter((one: Loose) => readField('lastName', one) !== '1')],
          edges: [{ node: ref('4') }, ...list.edges.filter(({ node }: Loose) => readField('lastName', node) !== '1')],
        }),
      },
    });
    expect([names(kept()), kept().totalCount]).toEqual(['42', 5]);
    // A read without rows leaves them.
    await client.query({
      query: gql(`{ contacts(filter: { search: "Kept" }, sort: lastName, first: 2) { totalCount } }`),
      fetchPolicy: 'network-only',
    });
    expect(names(kept())).toBe('42');
    await ask(pageInfo.endCursor);
    expect(names(kept())).toBe('4234');
    // What the server says anew is right.
    await client.query({ query: list(), fetchPolicy: 'network-only' });
    expect([names(kept()), kept().totalCount]).toEqual(['12', 4]);
  });

  it('leaves what updateQuery writes', async () => {
    await ask();
    cache.updateQuery<Loose>({ query: list() }, (data) => ({
      contacts: { ...data!.contacts, nodes: data!.contacts.nodes.slice(1), edges: data!.contacts.edges.slice(1) },
    }));
    expect(names(kept())).toBe('2');
  });
});

describe('a page of which other rows come, without its end', () => {
  const asked = (selection: string, after = '') =>
    gql(
      `{ contacts(filter: { search: "Anew" }, sort: lastName, order: desc, first: 2${after && `, after: "${after}"`}) { ${selection} } }`,
    );
  const own = 'nodes { id lastName } totalCount pageInfo { endCursor }';
  const here = (selection: string, after?: string) => cache.readQuery<Loose>({ query: asked(selection, after) })?.contacts;
  const again = async (selection: string, after?: string) =>
    (await client.query<Loose>({ query: asked(selection, after), fetchPolicy: 'network-only' })).data!.contacts;

  it('is asked for anew by who needs the end or its edges, and no record falls between two pages', async () => {
    for (const lastName of ['1', '2']) await acme.contact({ firstName: 'Anew', lastName });
    await again(`${own} edges { node { id } }`);
    await acme.contact({ firstName: 'Anew', lastName: '3' });
    await again('nodes { id lastName }');
    expect([here(own), here('edges { node { id } }'), here('totalCount')]).toEqual([undefined, undefined, expect.anything()]);
    const { endCursor } = (await again(own)).pageInfo;
    await again(own, endCursor);
    expect(here(own).nodes.map(({ lastName }: Loose) => lastName)).toEqual(['3', '2', '1']);
    await again('nodes { id lastName }', endCursor);
    expect([here(own, endCursor), here('totalCount', endCursor)]).toEqual([undefined, expect.anything()]);
  });
});

describe('what has no id of its own', () => {
  it('is one where an account has one: what a mutation answers changes what was read', async () => {
    const settings = gql('{ workspaceSettings { currency } me { workspace { id settings { currency } } } }');
    await client.query({ query: settings });
    await client.mutate({ mutation: gql('mutation { updateWorkspaceSettings(input: { currency: "CHF" }) { currency } }') });
    expect(cache.readQuery<Loose>({ query: settings })).toMatchObject({
      workspaceSettings: { currency: 'CHF' },
      me: { workspace: { settings: { currency: 'CHF' } } },
    });
    expect(['MfaPolicy', 'VendorLine', 'WorkspaceSettings'].map((type) => urqlKeys[type]!({}))).toEqual(['own', 'own', 'own']);
  });

  it('is known by the record whose it is', async () => {
    const policies = apolloCache.typePolicies as Record<string, Loose>;
    expect(policies.RosterMember!.keyFields({ userId: '7' })).toBe('RosterMember:7');
    expect(policies.VoiceNumber!.keyFields({ phoneNumberId: '7' })).toBe('VoiceNumber:7');
    expect(policies.RosterMember!.keyFields({ name: 'Ada' })).toBeUndefined();
    expect([urqlKeys.RosterMember!({ userId: '7' }), urqlKeys.VoiceNumber!({})]).toEqual(['RosterMember:7', null]);
  });
});
