import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  type KeyClient,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

let nth = 0;
const fresh = () => `portions-${++nth}`;
const named = (idempotencyKey: string) => ({ 'idempotency-key': idempotencyKey });
const isReplay = ({ headers }: { headers: Reply['headers'] }) => headers['idempotent-replayed'] === 'true';

/** Does something while the answer to the first commit that tells of a change is lost: it is done, and fails. */
async function unanswered<T>(work: () => Promise<T>): Promise<T> {
  const { eventsWritten } = api.app;
  // What comes right after the commit.
  api.app.eventsWritten = () => {
    api.app.eventsWritten = eventsWritten;
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  };
  try {
    return await work();
  } finally {
    api.app.eventsWritten = eventsWritten;
  }
}

/** Runs something while no row of a table can be deleted, or nothing else of what is told. */
async function whileRefused<T>(table: string, work: () => Promise<T>, what = 'delete'): Promise<T> {
  const execute = (text: string) => api.app.database.execute(text);
  await execute(`create function test_refused() returns trigger language plpgsql as $$ begin
    raise exception using errcode = '53100'; end $$;
    create trigger test_refused before ${what} on ${table} for each row execute function test_refused()`);
  try {
    return await work();
  } finally {
    await execute(`drop trigger test_refused on ${table}; drop function test_refused()`);
  }
}

describe('an operation on many records', () => {
  it('ends where another request has taken its key over: what that one does is neither done twice nor told as failed', async () => {
    const [{ id }, other, { id: tagId }] = [await acme.contact(), await acme.contact(), await acme.tag('Both')];
    const operation = fresh();
    const tag = () => key.post('/bulk/contacts/tag', { contactIds: [id, other.id], tagId }, named(operation));
    // Another request takes the key over meanwhile, as after two minutes.
    const takeOver = `create function test_taken() returns trigger language plpgsql as $$ begin
        update idempotency_keys set created_at = created_at + interval '3 minutes' where key = '${operation}';
        return null; end $$;
      create trigger test_taken after insert on contact_tags for each statement execute function test_taken()`;
    await api.app.database.execute(takeOver);
    try {
      const overtaken = await tag();
      expect([overtaken.status, overtaken.body.code]).toEqual([409, 'send_in_progress']);
    } finally {
      await api.app.database.execute('drop trigger test_taken on contact_tags; drop function test_taken()');
    }
    const { rows } = await api.app.database.execute("select 1 from idempotency_keys where key = $1 and state = 'done'", [operation]);
    expect(rows).toEqual([]);
    expect(dataOf(await tag())).toMatchObject({ succeeded: 2, failed: 0 });
  });
});

describe('an import that was cut off before its rows were written to the end', () => {
  const mutation = 'mutation ($input: CreateImportInput!) { createImport(input: $input) { id totalRows } }';
  const names = ['Ada', 'Bob'].map((firstName) => ({ firstName }));
  const make = (id: string, idempotencyKey?: string) =>
    key.gql(mutation, { input: { id, rows: names } }, idempotencyKey ? named(idempotencyKey) : {});
  /** As where its process dies: it is neither finished nor taken back. */
  const cutOff = async (id: string, operation: string) =>
    expectGraphQLRefusal(await whileRefused('imports', () => make(id, operation), 'update or delete'), 503);

  it('is made by the next request under its key, with the id that the client chose', async () => {
    const [id, operation] = [v7(), fresh()];
    await cutOff(id, operation);
    const [made, again] = [await make(id, operation), await make(id, operation)];
    expect([made.errors, made.data, isReplay(made)]).toEqual([undefined, { createImport: { id, totalRows: 2 } }, false]);
    expect([again.data, isReplay(again)]).toEqual([made.data, true]);
    const { rows } = await api.app.database.execute('select row from import_rows where import_id = $1 order by row', [id]);
    expect(rows).toEqual([{ row: 1 }, { row: 2 }]);
  });

  it('is in the way of others, until nobody can be writing its rows', async () => {
    const id = v7();
    await cutOff(id, fresh());
    for (const other of [undefined, fresh()]) expectGraphQLRefusal(await make(id, other), 409, 'id');
  });
});

describe('an operation in many transactions that cannot be repeated', () => {
  const tagsOf = async (id: string) => dataOf(await key.get(`/contacts/${id}`)).tags.map((tag: { name: string }) => tag.name);

  it('is known to be done where the answer to its last commit was lost: a merge of tags', async () => {
    const [source, target] = [await acme.tag('From'), await acme.tag('Into')];
    const contact = await acme.contact({ firstName: 'Tagged', tags: ['From'] });
    const operation = fresh();
    const merge = () => key.post('/tags/merge', { sourceId: source.id, targetId: target.id }, named(operation));
    expectRefusal(await unanswered(merge), 503);
    const again = await merge();
    expect([again.status, isReplay(again), again.body.data?.id]).toEqual([200, true, target.id]);
    expect(await tagsOf(contact.id)).toEqual(['Into']);
    dataOf(await key.patch(`/tags/${target.id}`, { name: 'Renamed' }));
    const later = await merge();
    expect([isReplay(later), later.body]).toEqual([true, again.body]);
  });

  it('is known to be done where the answer to its last commit was lost: a deletion of a tag', async () => {
    const { id } = await acme.tag('Goes');
    const operation = fresh();
    const remove = () => key.gql('mutation ($id: ID!) { deleteTag(id: $id) { deletedId } }', { id }, named(operation));
    expect((await unanswered(remove)).errors?.[0].extensions).toMatchObject({ status: 503 });
    const again = await remove();
    expect([isReplay(again), again.errors, again.data]).toEqual([true, undefined, { deleteTag: { deletedId: id } }]);
  });

  it('lets go of its own claim alone when it fails', async () => {
    const [source, target] = [await acme.tag('Held'), await acme.tag('Other')];
    const operation = fresh();
    const merge = () => key.post('/tags/merge', { sourceId: source.id, targetId: target.id }, named(operation));
    // Another request takes the key over meanwhile, as after two minutes.
    const takeOver = `create function test_taken() returns trigger language plpgsql as $$ begin
        update idempotency_keys set created_at = created_at + interval '3 minutes' where key = '${operation}';
        return null; end $$;
      create trigger test_taken after delete on contact_tags for each statement execute function test_taken()`;
    await api.app.database.execute(takeOver);
    try {
      await acme.contact({ firstName: 'Tagged', tags: ['Held'] });
      await whileRefused('tags', merge);
    } finally {
      await api.app.database.execute('drop trigger test_taken on contact_tags; drop function test_taken()');
    }
    expect((await merge()).body.code).toBe('send_in_progress');
  });
});
