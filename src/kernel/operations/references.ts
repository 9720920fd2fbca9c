import { type Fault, invalid } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { Loader } from '../context/loaders.js';
import { joinSql, type Sql, sql, statement } from '../database/sql.js';
import type { Changes } from '../events/facts.js';

/** What a body may refer to, as a select of the ids of those that are there and not deleted. */
const kinds = {
  contact: (account: string, ids: string[]) =>
    sql`select 'contact/' || id as key from contacts where account_id = ${account}::uuid and id = any(${ids}::uuid[]) and deleted_at is null`,
  company: (account: string, ids: string[]) =>
    sql`select 'company/' || id as key from companies where account_id = ${account}::uuid and id = any(${ids}::uuid[]) and deleted_at is null`,
  deal: (account: string, ids: string[]) =>
    sql`select 'deal/' || id as key from deals where account_id = ${account}::uuid and id = any(${ids}::uuid[]) and deleted_at is null`,
  user: (account: string, ids: string[]) =>
    sql`select 'user/' || user_id as key from memberships
      where account_id = ${account}::uuid and user_id = any(${ids}::uuid[]) and status <> 'removed'`,
} satisfies Record<string, (account: string, ids: string[]) => Sql>;

type Kind = keyof typeof kinds;

/** What each field of a body refers to. */
export type ReferenceKinds<F extends string = string> = Record<F, Kind>;

const present = statement<{ key: string }, [Map<Kind, string[]>]>((account, wanted) =>
  joinSql(
    [...wanted].map(([kind, ids]) => kinds[kind](account, ids)),
    ' union all ',
  ),
);

async function whichExist(ctx: Context, keys: readonly string[]): Promise<boolean[]> {
  const wanted = new Map<Kind, string[]>();
  for (const [kind, id] of keys.map((key) => key.split('/') as [Kind, string])) wanted.set(kind, [...(wanted.get(kind) ?? []), id]);
  const found = new Set((await ctx.glance(present, wanted)).map(({ key }) => key));
  return keys.map((key) => found.has(key));
}

const asked = new WeakMap<Context, Loader<boolean>>();

function existing(ctx: Context): Loader<boolean> {
  const loader = asked.get(ctx) ?? new Loader((keys) => whichExist(ctx, keys));
  asked.set(ctx, loader);
  return loader;
}

/** What is wrong with a field that names nobody. */
export const nobody: Fault = { code: 'not_found', message: 'names no record of this account' };

type Body<F extends string> = Partial<Record<F, string | null>>;

/**
 * The given fields whose id no live record of the account has. One statement for all that is asked at the same moment, none
 * where nothing is given.
 */
export async function missingReferences<F extends string>(ctx: Context, of: ReferenceKinds<F>, body: Body<F>): Promise<string[]> {
  const given = (Object.keys(of) as F[]).filter((field) => body[field]);
  const known = await Promise.all(given.map((field) => existing(ctx).fresh(`${of[field]}/${body[field]}`)));
  return given.filter((_field, i) => !known[i]);
}

/** Of the fields that refer to something, those that a change gives a new value: what stays is not asked for again. */
export const changedReferences = <F extends string>(of: ReferenceKinds<F>, changes: Changes): Body<F> =>
  Object.fromEntries((Object.keys(of) as F[]).map((field) => [field, changes[field]?.to as string | null | undefined])) as Body<F>;

/** Throws 400 naming every one of them. */
export function refuseMissing(fields: string[]): void {
  if (fields.length > 0) throw invalid(fields.map((field) => ({ field, ...nobody })));
}

/** Throws 400 naming every given field whose id no live record of the account has. */
export async function checkReferences<F extends string>(ctx: Context, of: ReferenceKinds<F>, body: Body<F>): Promise<void> {
  refuseMissing(await missingReferences(ctx, of, body));
}
