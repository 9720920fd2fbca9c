import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client, Sink, SubscribePayload } from 'graphql-ws';
import { resuming } from '../../src/client/index.js';
import type { Account, Loose, TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { keyHolder, lineTo } from '../support/resumeLine.js';

let crm: TestServer;
let acme: Account;
let url: string;
let secret: string;
beforeAll(async () => {
  ({ crm, acme, url, secret } = await keyHolder());
  await acme.contact();
});
afterAll(() => crm.close());

/** What comes first of a subscription through the resume link. */
async function first(query: string, variables: Record<string, unknown> = {}): Promise<Loose> {
  const { client } = lineTo(url, secret);
  try {
    return (await client.iterate<Loose>({ query, variables }).next()).value.data;
  } finally {
    await client.dispose();
  }
}

describe('a subscription to events that does not say where it goes on', () => {
  it.each([
    ['passes nothing', 'subscription { contactEvents(ready: true) { id } }'],
    ['passes nothing, of all records', 'subscription { events { id } }'],
    ['passes another variable', 'subscription ($from: ID) { contactEvents(after: $from, ready: true) { id } }'],
    [
      'passes the variable elsewhere',
      'subscription ($after: ID) { mine: contactEvents(ready: true) { id contact { deals(after: $after) { totalCount } } } }',
    ],
    ['says it in a comment', 'subscription { contactEvents(ready: true) { id } } # contactEvents(after: $after)'],
  ])('is refused where it %s', async (_how, query) => {
    await expect(first(query)).rejects.toThrow('needs ready: true and after: $after');
  });

  it.each([
    ['begins with what is still to come', 'subscription ($after: ID) { contactEvents(after: $after) { id } }', { after: 'latest' }],
    [
      'is not to be told that it is ready',
      'subscription ($after: ID, $r: Boolean) { events(after: $after, ready: $r) { id } }',
      { r: false },
    ],
    ['does not say whether it is', 'subscription ($after: ID, $r: Boolean) { events(after: $after, ready: $r) { id } }', {}],
    ['is not by default', 'subscription ($after: ID, $r: Boolean = false) { events(after: $after, ready: $r) { id } }', {}],
  ])('is refused by the values of its variables: where it %s', async (_how, query, variables) => {
    await expect(first(query, variables)).rejects.toThrow('needs ready: true and after: $after');
  });

  it.each([
    ['true', '$r: Boolean', { r: true }],
    ['true by default', '$r: Boolean = true', {}],
    ['true, and it begins with what is still to come', '$r: Boolean!', { r: true, after: 'latest' }],
  ])('is none where the variable of ready is %s', async (_how, head, variables) => {
    const query = `subscription ($after: ID, ${head}) { contactEvents(after: $after, ready: $r) { id kind } }`;
    expect((await first(query, variables)).contactEvents.kind).toBe('ready');
  });

  it('is none where only its own name is like theirs', async () => {
    const query = 'subscription contactEvents($after: ID) { contactEvents(after: $after, ready: true) { id kind } }';
    expect((await first(query)).contactEvents.kind).toBe('ready');
  });
});

describe('a live query of which a cut would lose something', () => {
  const rows = 'rows { recordId index change version node { id } }';
  const live = (selection: string) => `subscription ($after: [LiveHave!]) { live(after: $after) { contacts(first: 2) { ${selection} } } }`;

  it('is refused where it names its rows otherwise', async () => {
    for (const selection of [`isWhole removed all: ${rows}`, `whole: isWhole removed ${rows}`, `isWhole gone: removed ${rows}`])
      await expect(first(live(selection))).rejects.toThrow('contacts must select isWhole removed rows');
    expect(await first(live('totalCount'))).toEqual({ live: { contacts: { totalCount: expect.any(Number) } } });
  });

  it('is told so once: no result and no end come after the error', () => {
    const told: unknown[] = [];
    let given: Sink<Loose> | undefined;
    const subscribe = (_payload: SubscribePayload, sink: Sink<Loose>) => {
      given = sink;
      // As graphql-ws does, a moment later.
      return () => sink.complete();
    };
    const client = resuming({ subscribe } as unknown as Client);
    const sink = {
      next: () => told.push('next'),
      error: (error: unknown) => told.push((error as Error).message),
      complete: () => told.push('complete'),
    };
    client.subscribe<Loose>({ query: live(`isWhole ${rows}`) }, sink);
    given!.next({ data: { live: { contacts: { isWhole: true, rows: [] } } } });
    given!.next({ data: { live: { contacts: { totalCount: 1 } } } });
    expect(told).toEqual([expect.stringMatching(/^contacts must select isWhole removed rows/)]);
  });

  it('is refused where it begins with an after of its own, of which only the difference would come', async () => {
    const { id } = await acme.contact();
    const after = [{ list: 'contacts', rows: [`${id} of-before`] }];
    await expect(first(live(`isWhole removed ${rows}`), { after })).rejects.toThrow('contacts began with a difference');
    const { isWhole, rows: shown } = (await first(live(`isWhole removed ${rows}`))).live.contacts;
    expect([isWhole, shown.map(({ recordId }: Loose) => recordId)]).toEqual([true, expect.arrayContaining([id])]);
  });
});

describe('a live query that calls the cursor of its list $after', () => {
  it('keeps it, and comes whole after a cut', async () => {
    for (const lastName of ['1', '2', '3']) await acme.contact({ firstName: 'Paged', lastName });
    const list = (after: string) => `contacts(filter: { search: "Paged" }, sort: lastName, order: asc, first: 2${after})`;
    const { data } = await acme.owner.gql(`{ ${list('')} { edges { cursor } } }`);
    const { client, cut } = lineTo(url, secret);
    const query = `subscription ($after: String) { live {
      ${list(', after: $after')} { isWhole removed rows { recordId index change version node { lastName } } } } }`;
    const told: Loose[] = [];
    const sink = {
      next: (result: Loose) => told.push(result.data ?? result),
      error: (error: unknown) => told.push({ error }),
      complete() {},
    };
    client.subscribe<Loose>({ query, variables: { after: data.contacts.edges[0].cursor } }, sink);
    const names = () => told.at(-1)?.live?.contacts.rows.map(({ node }: Loose) => node.lastName);
    await eventually(() => names()?.join() === '2,3');
    cut();
    await acme.contact({ firstName: 'Paged', lastName: '2 and a half' });
    await eventually(() => told.at(-1)?.error || names()?.join() === '2,2 and a half');
    expect(names()).toEqual(['2', '2 and a half']);
    await client.dispose();
  });
});

describe('a document of several operations', () => {
  const page = (args: string) => `query Missed${args && '($after: ID)'} { events(first: 50${args}) { nodes { id } } }`;
  const follow = 'subscription Follow($after: ID) { contactEvents(after: $after, ready: true) { id kind contact { lastName } } }';
  const board = 'subscription Board { live { contacts(first: 1) { totalCount } } }';

  it.each([
    ['a query', [page(''), follow]],
    ['a query that follows', [follow, page('')]],
    ['a live query', [board, follow]],
    ['a live query that follows', [follow, board]],
  ])('goes on by what the one says that is run, beside %s', async (_which, operations) => {
    const { client, cut } = lineTo(url, secret);
    const told: Loose[] = [];
    const sink = { next: (result: Loose) => told.push(result.data), error: (error: unknown) => told.push({ error }), complete() {} };
    client.subscribe<Loose>({ query: operations.join(' '), operationName: 'Follow' }, sink);
    await eventually(() => told.length === 1);
    expect(told[0]).toMatchObject({ contactEvents: { kind: 'ready' } });
    cut();
    await acme.contact({ lastName: 'After the cut' });
    await eventually(() => told.some((data) => data.contactEvents?.contact?.lastName === 'After the cut'));
    expect(told.filter(({ error }) => error)).toEqual([]);
    await client.dispose();
  });

  it('is refused where the one that is run cannot go on, whatever the others can', async () => {
    const placeless = 'subscription Follow { contactEvents { id } }';
    const { client } = lineTo(url, secret);
    const asked = { query: `${page(', after: $after')} ${placeless}`, operationName: 'Follow', variables: { after: '1' } };
    await expect(client.iterate(asked).next()).rejects.toThrow('needs ready: true and after: $after');
    await client.dispose();
  });
});

describe('a subscription that is refused because too much was asked for', () => {
  const events = 'subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind } }';
  const ready = { data: { contactEvents: { id: '7', kind: 'ready' } } };
  const tooMuch = (retryAfter: number) => [{ message: 'Too many requests', extensions: { code: 'rate_limited', retryAfter } }];

  /** A subscription through the link before a client of graphql-ws that tells what the test has it tell. */
  function watched(query: string) {
    const begun: { after: unknown; sink: Sink<Loose> }[] = [];
    const told: Loose[] = [];
    const subscribe = ({ variables }: SubscribePayload, sink: Sink<Loose>) => {
      begun.push({ after: structuredClone(variables?.after), sink });
      return () => {};
    };
    const client = resuming({ subscribe } as unknown as Client);
    const error = (fault: unknown) => told.push({ fault });
    const stop = client.subscribe<Loose>({ query }, { next: ({ data }) => told.push(data!), error, complete: () => {} });
    return { begun, told, stop };
  }

  it('goes on after its last event, when there is room', async () => {
    const { begun, told } = watched(events);
    begun[0]!.sink.next(ready);
    for (const nth of [0, 1]) {
      begun[nth]!.sink.error(tooMuch(0.01));
      await eventually(() => begun.length === nth + 2);
    }
    expect([begun.map(({ after }) => after), told]).toEqual([[undefined, '7', '7'], [ready.data]]);
  });

  it('goes on with the difference, as a live query, or begins later', async () => {
    const { begun, told } = watched('subscription ($after: [LiveHave!]) { live(after: $after) { deals { isWhole } } }');
    const row = (recordId: string) => ({ recordId, index: 0, change: 'added', version: '1', node: {} });
    const deals = (isWhole: boolean, id: string) => ({ data: { live: { deals: { isWhole, removed: [], rows: [row(id)] } } } });
    begun[0]!.sink.error(tooMuch(0.01));
    await eventually(() => begun.length === 2);
    begun[1]!.sink.next(deals(true, 'a'));
    begun[1]!.sink.error(tooMuch(0.01));
    await eventually(() => begun.length === 3);
    expect(begun.map(({ after }) => after)).toEqual([undefined, undefined, [{ list: 'deals', rows: ['a 1'] }]]);
    begun[2]!.sink.next(deals(false, 'b'));
    expect(told.at(-1)!.live.deals.rows.map(({ recordId }: Loose) => recordId)).toEqual(['b', 'a']);
  });

  it('is told of it where it has no place yet', () => {
    const { begun, told } = watched(events);
    begun[0]!.sink.error(tooMuch(7));
    expect(told).toEqual([{ fault: tooMuch(7) }]);
  });
});

describe('a subscription that is left while it waits for room', () => {
  it('does not come back', async () => {
    let begun = 0;
    const sinks: Sink<Loose>[] = [];
    const subscribe = (_payload: unknown, sink: Sink<Loose>) => {
      begun++;
      sinks.push(sink);
      return () => {};
    };
    const query = 'subscription ($after: [LiveHave!]) { live(after: $after) { deals { isWhole } } }';
    const nobody = { next() {}, error() {}, complete() {} };
    const stop = resuming({ subscribe } as unknown as Client).subscribe({ query }, nobody);
    sinks[0]!.error([{ message: 'Too many requests', extensions: { code: 'rate_limited', retryAfter: 0.05 } }]);
    stop();
    await new Promise((resume) => setTimeout(resume, 200));
    expect(begun).toBe(1);
  });
});
