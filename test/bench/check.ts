import { deepStrictEqual } from 'node:assert';
import { connected } from './database.js';
import type { Call } from './load.js';
import type { Running } from './process.js';
import type { Workload } from './workloads.js';

const samples = 40;

async function ask(server: Running, key: string, { method, path, body }: Call): Promise<{ body: unknown; text: string }> {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(server.url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${server.name}: ${method} ${path} answers ${answer.status} ${text.slice(0, 500)}`);
  return { body: JSON.parse(text), text };
}

/** The same with its keys in order, and without what may differ. */
function canonical(value: unknown, differing: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => canonical(item, differing));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, differing.includes(key) ? typeof item : canonical(item, differing)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

const sampleOf = (calls: Call[]) => calls.filter((_, i) => i % Math.ceil(calls.length / samples) === 0);

/** Both servers give the same answers, byte for byte but for the order of keys; throws where they do not. Answers their size. */
export async function checkSame(workload: Workload, server: Running, ceiling: Running, key: string): Promise<number> {
  const differing = workload.differing ?? [];
  const ours = sampleOf(workload.serverCalls ?? workload.calls);
  let bytes = 0;
  for (const [i, call] of sampleOf(workload.calls).entries()) {
    const theirs = await ask(ceiling, key, call);
    const answer = await ask(server, key, ours[i % ours.length]!);
    const body = workload.comparable ? workload.comparable(answer.body as never) : answer.body;
    const [seen, expected] = [canonical(body, differing), canonical(theirs.body, differing)];
    if (JSON.stringify(seen) !== JSON.stringify(expected)) deepStrictEqual(seen, expected, `${workload.key}: the answers differ`);
    bytes += answer.text.length / sampleOf(workload.calls).length;
  }
  return Math.round(bytes);
}

/** What creating contacts leaves behind: the newest rows of each table, without what may differ. */
async function traces(url: string): Promise<unknown> {
  return connected(url, async (client) => {
    const newest = (table: string, columns: string) =>
      client.query(`select ${columns}, (select count(*)::int from ${table}) as n from ${table} order by created_at desc, id desc limit 1`);
    const activity = await newest('activities', 'type, title, entity_type, action, changes, metadata, user_id, user_name');
    const event = await newest('outbox_events', 'name, entity_type, data, changes, actor_id, actor_name');
    const { rows } = await client.query('select count(*)::int as contacts from contacts');
    return canonical([rows, activity.rows, event.rows], ['id', 'createdAt', 'updatedAt']);
  });
}

/** Both servers have written the same rows: contacts, log entries, events. */
export async function checkTraces(serverUrl: string, ceilingUrl: string): Promise<void> {
  deepStrictEqual(await traces(serverUrl), await traces(ceilingUrl), 'the servers write different rows');
}

/**
 * SQL statements of one request besides the key check, whose outcome is cached for a second: the fewest of a few requests
 * that follow each other.
 */
export async function statementsOf(server: Running, calls: Call[], key: string): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 8; i++) {
    const before = await server.statements();
    await ask(server, key, calls[i % calls.length]!);
    fewest = Math.min(fewest, (await server.statements()) - before);
  }
  return fewest;
}
