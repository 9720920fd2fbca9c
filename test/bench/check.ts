import { deepStrictEqual } from 'node:assert';
import { connected } from './database.js';
import { type Call, ownHeaders, textOf } from './load.js';
import type { Running } from './process.js';

const samples = 40;

async function ask(server: Running, key: string, call: Call): Promise<{ body: unknown; text: string }> {
  const { method, path, body } = call;
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...ownHeaders(call) };
  const answer = await fetch(server.url + path, { method, headers, body: textOf(call) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${server.name}: ${method} ${path} answers ${answer.status} ${text.slice(0, 500)}`);
  return { body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text, text };
}

/** Whoever serves a list writes its cursors as they like. */
const opaque = ['next_cursor'];

/** The same with its keys in order, and without what may differ. */
function canonical(value: unknown, differing: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => canonical(item, differing));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, differing.includes(key) ? typeof item : canonical(item, differing)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

const sampleOf = (calls: Call[]) => calls.filter((_, i) => i % Math.ceil(calls.length / samples) === 0);

/** The answers to a sample of the calls, and their size. */
export async function answersOf(server: Running, calls: Call[], key: string): Promise<{ bodies: unknown[]; bytes: number }> {
  const bodies: unknown[] = [];
  let bytes = 0;
  for (const call of sampleOf(calls)) {
    const { body, text } = await ask(server, key, call);
    bodies.push(body);
    bytes += text.length / sampleOf(calls).length;
  }
  return { bodies, bytes: Math.round(bytes) };
}

/** Throws where the two are not the same but for the order of keys and what may differ. */
export function checkSame(what: string, seen: unknown[], expected: unknown[], differing: readonly string[] = []): void {
  for (const [i, theirs] of expected.entries()) {
    // Where one of them answers each sample with the same, it has one call.
    const ignored = [...opaque, ...differing];
    const [a, b] = [canonical(seen[i % seen.length], ignored), canonical(theirs, ignored)];
    if (JSON.stringify(a) !== JSON.stringify(b)) deepStrictEqual(a, b, `${what}: what they answer or leave behind differs`);
  }
}

/** The newest rows of the log and of the events, and how many rows the tables have. */
export interface Traces {
  newest: unknown[];
  counts: Record<string, number>;
}

/** What writing leaves behind in a database. */
export async function tracesOf(url: string): Promise<Traces> {
  return connected(url, async (client) => {
    const newest = async (table: string, columns: string) =>
      (await client.query<object>(`select ${columns} from ${table} order by created_at desc, id desc limit 1`)).rows[0];
    const entry = await newest('activities', 'type, title, entity_type, action, changes, metadata, user_id, user_name');
    const event = await newest('outbox_events', 'name, entity_type, data, changes, actor_id, actor_name');
    const counted = ['contacts', 'deals', 'messages', 'conversations', 'submissions', 'appointments', 'activities', 'outbox_events'];
    const tables = counted.map((table) => `(select count(*)::int from ${table}) as ${table}`);
    const counts = (await client.query<Record<string, number>>(`select ${tables.join(', ')}`)).rows[0]!;
    return { newest: [entry, event], counts };
  });
}

/**
 * SQL statements of one request besides the key check, whose outcome is cached for a second: the fewest of a few requests
 * that follow each other, none of which is among the samples.
 */
export async function statementsOf(server: Running, calls: Call[], key: string): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let i = 1; i <= 8; i++) {
    const before = await server.statements();
    // All with one key, whose check is cached.
    await ask(server, key, { ...calls[i % calls.length]!, key: calls[0]!.key });
    fewest = Math.min(fewest, (await server.statements()) - before);
  }
  return fewest;
}
