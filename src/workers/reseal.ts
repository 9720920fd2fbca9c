import { seal, sealOf, Unreadable, unseal } from '../kernel/base/crypto.js';
import { hourMs } from '../kernel/base/durations.js';
import { nilId } from '../kernel/base/ids.js';
import type { App } from '../kernel/context/context.js';
import type { SealedColumn } from '../kernel/context/registry.js';

/** Rows that are read together. */
const batch = 5000;
/** A sweep goes on for so long at most, and the next one where it ended: others wait behind it. */
const longestMs = 10_000;
/** After a look that found nothing, the next is an hour later: a process of the key before may still seal something. */
const restMs = hourMs;

/** How far the look over all columns has come, in this process. */
interface Progress {
  /** Which column. */
  nth: number;
  /** The account and the id of the last row that was looked at. */
  after: readonly [string, string];
  /** How many were sealed anew since the look began, and how many could not be read. */
  anew: number;
  unreadable: number;
  /** Not before this moment of `performance.now()`. */
  next: number;
}

const begun = (next = 0): Progress => ({ nth: 0, after: [nilId, nilId], anew: 0, unreadable: 0, next });
const progress = new WeakMap<App, Progress>();

interface Portion {
  last: readonly [string, string] | null;
  rows: { account: string; id: string; sealed: string }[];
}

/** Some rows in the order of their key, the last of them, and which of them another key than the present one sealed. */
async function portion(app: App, { table, column, isGlobal }: SealedColumn, after: readonly [string, string]): Promise<Portion> {
  const account = isGlobal ? `'${nilId}'::uuid` : 't.account_id';
  const key = isGlobal ? 't.id' : 't.account_id, t.id';
  const behind = isGlobal ? `t.id > $2::uuid and $1::uuid is not null` : `(t.account_id, t.id) > ($1::uuid, $2::uuid)`;
  const { rows } = await app.database.execute(
    `with looked as materialized (
      select ${account} as account, t.id, t.${column} as sealed from ${table} t where ${behind} order by ${key} limit ${batch})
    select (select json_build_array(account, id) from looked order by account desc, id desc limit 1) as last,
      coalesce(json_agg(json_build_object('account', account, 'id', id, 'sealed', sealed))
        filter (where sealed is not null and not starts_with(sealed, $3)), '[]') as rows from looked`,
    [...after, sealOf(app)],
  );
  return rows[0] as Portion;
}

/** Seals a value anew, unless somebody has changed it meanwhile. */
async function resealRow(app: App, given: SealedColumn, { account, id, sealed }: Portion['rows'][number]): Promise<void> {
  const { table, column, purpose, place, isGlobal } = given;
  const anew = seal(app, purpose, place(id, account), unseal(app, purpose, place(id, account), sealed));
  const mine = isGlobal ? '$3::uuid is not null' : 'account_id = $3::uuid';
  const text = `update ${table} set ${column} = $1 where ${column} = $2 and ${mine} and id = $4::uuid`;
  await app.database.execute(text, [anew, sealed, account, id]);
}

/** Takes one portion further. */
async function step(app: App, at: Progress): Promise<void> {
  const given = app.registry.seals[at.nth]!;
  const { last, rows } = await portion(app, given, at.after);
  for (const row of rows) {
    try {
      await resealRow(app, given, row);
      at.anew++;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      at.unreadable++;
    }
  }
  if (last) at.after = last;
  else Object.assign(at, { nth: at.nth + 1, after: begun().after });
}

/**
 * While the server knows keys of before: seals with the present one what another one sealed, some of it at each sweep, until nothing is
 * left. The log tells when the key of before is needed no more for what is kept.
 */
export async function reseal(app: App): Promise<void> {
  if (app.config.previousSecretKeys.length === 0) return;
  const at = progress.get(app) ?? begun();
  progress.set(app, at);
  const until = performance.now() + longestMs;
  if (at.next > performance.now()) return;
  while (at.nth < app.registry.seals.length) {
    if (performance.now() > until) return;
    await step(app, at);
  }
  const { anew, unreadable } = at;
  if (unreadable > 0)
    app.log.error({ unreadable }, 'sealed values cannot be read: their key is neither SECRET_KEY nor in SECRET_KEY_PREVIOUS');
  app.log.info({ anew, unreadable }, anew > 0 ? 'secrets were sealed anew' : 'every secret that is kept is sealed by SECRET_KEY');
  progress.set(app, begun(anew > 0 ? 0 : performance.now() + restMs));
}
