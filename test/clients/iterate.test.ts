import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Client, Sink } from 'graphql-ws';
import { resuming } from '../../src/client/index.js';
import type { Account, Loose, TestServer } from '../support/index.js';
import { keyHolder, lineTo } from '../support/resumeLine.js';

let crm: TestServer;
let acme: Account;
let url: string;
let secret: string;
beforeAll(async () => {
  ({ crm, acme, url, secret } = await keyHolder());
});
afterAll(() => crm.close());

describe('iterating through the resume link', () => {
  const document = 'subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind contact { lastName } } }';

  it('goes on where it was when the line was cut, with what nobody has asked for yet, and loses and doubles none', async () => {
    const { client, cut } = lineTo(url, secret);
    const results = client.iterate<Loose>({ query: document });
    const names: string[] = [];
    const told = async () => (await results.next()).value.data.contactEvents;
    // Each connection begins with a ready.
    const take = async () => {
      let event = await told();
      while (event.kind === 'ready') event = await told();
      names.push(event.contact.lastName);
    };
    expect((await told()).kind).toBe('ready');
    for (const round of ['first', 'second']) {
      for (const nth of [1, 2]) await acme.contact({ firstName: 'Live', lastName: `${round} ${nth}` });
      await take();
      cut();
      await acme.contact({ firstName: 'Live', lastName: `${round} 3` });
    }
    for (let left = 4; left > 0; left--) await take();
    expect(names).toEqual(['first 1', 'first 2', 'first 3', 'second 1', 'second 2', 'second 3']);
    const waiting = results.next();
    await results.return!();
    expect([await waiting, await results.next()]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    await client.dispose();
  });

  it('ends with the reason of a refusal, and with the end of what is asked', async () => {
    const { client } = lineTo(url, secret);
    const refused = client.iterate({ query: 'subscription ($after: ID) { contactEvents(after: $after) { id } }' });
    await expect(refused.next()).rejects.toThrow('needs ready: true');
    const wrong = client.iterate({ query: 'subscription { nothing }' });
    await expect(wrong.next()).rejects.toMatchObject([{ message: expect.stringContaining('nothing') }]);
    const seen: unknown[] = [];
    for await (const { data } of client.iterate({ query: '{ __typename }' })) seen.push(data);
    expect(seen).toEqual([{ __typename: 'Query' }]);
    await client.dispose();
  });
});

describe('a line that fails for good', () => {
  /** A client of graphql-ws that tells what the test has it tell. */
  function told() {
    const sinks: Sink<Loose>[] = [];
    const stop = jest.fn();
    const subscribe = (_payload: unknown, sink: Sink<Loose>) => {
      sinks.push(sink);
      return stop;
    };
    const client = resuming({ subscribe } as unknown as Client);
    const results = client.iterate<Loose>({ query: '{ contacts { totalCount } }' });
    return { results, sink: sinks[0]!, stop };
  }

  it('is told of after what came before', async () => {
    const { results, sink } = told();
    sink.next({ data: { nth: 1 } });
    sink.next({ data: { nth: 2 } });
    sink.error(new Error('Cut'));
    sink.complete();
    expect([(await results.next()).value.data, (await results.next()).value.data]).toEqual([{ nth: 1 }, { nth: 2 }]);
    await expect(results.next()).rejects.toThrow('Cut');
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  it('lets who leaves go, whatever is told then', async () => {
    const { results, sink, stop } = told();
    sink.error(new Error('Cut'));
    expect(await results.return!()).toEqual({ done: true, value: undefined });
    const open = told();
    expect(await open.results.return!()).toEqual({ done: true, value: undefined });
    open.sink.next({ data: { nth: 1 } });
    open.sink.complete();
    expect(await open.results.next()).toEqual({ done: true, value: undefined });
    for (const one of [stop, open.stop]) expect(one).toHaveBeenCalledTimes(1);
  });
});
