import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-sse';
import { type Account, dataOf, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer } from '../support/live.js';
import { LiveScreen } from '../support/livePage.js';

let crm: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
  key = await acme.key();
});
afterAll(() => crm.close());

describe('a live query of as many records as there may be', () => {
  it('goes on after a cut with the difference alone', async () => {
    const made: Loose[] = [];
    for (let n = 0; n < 200; n++) made.push(await acme.contact({ firstName: `Of many ${n}`, source: 'Many' }));
    const list = 'contacts(filter: { source: "Many" }, first: 200)';
    const asked = Array.from({ length: 20 }, (_, n) => `l${n}: ${list} { isWhole removed rows { recordId index change version } }`);
    const screen = await new LiveScreen(key, `subscription ($after: [LiveHave!]) { live(after: $after) { ${asked.join(' ')} } }`).open(
      crm.wire.port,
    );
    await screen.nth(1);
    screen.cut();
    dataOf(await acme.owner.patch(`/contacts/${made[7]!.id}`, { source: 'Another' }));
    await screen.open(crm.wire.port);
    await screen.nth(1);
    const difference = { isWhole: false, removed: [made[7]!.id], rows: [] };
    expect(Object.values(screen.messages[1]!)).toEqual(Array(20).fill(difference));
    screen.cut();
  });
});

describe('a live query whose names are like those that the server reads by', () => {
  it('is answered under them', async () => {
    const { id } = await acme.contact({ firstName: 'Named' });
    const list = `contacts(where: { id: { eq: "${id}" } }, first: 5) { isWhole rows { recordId node { nodes: firstName } } nodes: totalCount }`;
    const screen = await new LiveScreen(key, `subscription { live { nodes: ${list} } }`).open(crm.wire.port);
    await screen.feed!.nth(1);
    expect(screen.feed!.events[0].nodes).toEqual({ isWhole: true, rows: [{ recordId: id, node: { nodes: 'Named' } }], nodes: 1 });
    screen.socket!.cut();
  });

  it.each(['_live_nodes: totalCount', 'rows { node { _live_id: firstName } }'])(
    'is refused where they are the same: %s',
    async (selection) => {
      const screen = await new LiveScreen(key, `subscription { live { contacts(first: 5) { ${selection} } } }`).open(crm.wire.port);
      const [{ extensions, message }] = (await screen.feed!.refused()) as [Loose];
      expect([extensions.status, message]).toEqual([400, expect.stringContaining("is a name of live's own")]);
      screen.cut();
    },
  );
});

describe('a live query over SSE', () => {
  it('comes whole and in one piece, the lists of its records included', async () => {
    const contact = await acme.contact({ firstName: 'Streamed', tags: ['one', 'two', 'three'] });
    for (const title of ['first', 'second']) await acme.deal({ title, contactId: contact.id });
    const node = 'firstName tags { name } deals(first: 5, sort: title, order: asc) { nodes { title } }';
    const query = `subscription { live { contacts(where: { id: { eq: "${contact.id}" } }, first: 1) { rows { node { ${node} } } } } }`;
    const url = `http://127.0.0.1:${crm.wire.port}/graphql/stream`;
    const client = createClient({ url, headers: bearer(key), retryAttempts: 0 });
    const seen: Loose[] = [];
    for await (const { data } of client.iterate<Loose>({ query })) {
      seen.push(data!.live.contacts.rows[0].node);
      if (seen.length === 2) break;
      await acme.owner.patch(`/contacts/${contact.id}`, { firstName: 'Changed' });
    }
    const deals = { nodes: [{ title: 'first' }, { title: 'second' }] };
    const tags = ['one', 'three', 'two'].map((name) => ({ name }));
    expect(seen).toEqual(['Streamed', 'Changed'].map((firstName) => ({ firstName, tags, deals })));
    client.dispose();
  });
});
