import { type Fault, invalid } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { perContext } from '../context/perContext.js';
import type { Reference } from '../context/registry.js';
import { listOf, uuid } from '../database/kinds.js';
import { rawSql, sql } from '../database/sql.js';
import { type Statement, statement } from '../database/statement.js';
import { batched } from './loader.js';

/** What each field of a body refers to: kinds that modules declare in `references`. */
export type ReferenceKinds<F extends string = string> = Record<F, string>;

const lookups = new WeakMap<Reference, Statement<{ id: string }, { ids: readonly string[] }>>();

/** The statement that finds, of some ids, those that live records have: of a record kind that a module declared. */
export function lookupOf(kind: string, reference: Reference): Statement<{ id: string }, { ids: readonly string[] }> {
  const known = lookups.get(reference);
  if (known) return known;
  const { of } = reference;
  const id = rawSql(`t.${of.key}`);
  const made = statement({
    name: `existing ${kind}`,
    takes: { ids: listOf(uuid) },
    row: { id: uuid },
    shared: true,
    text: ({ account, ids }) =>
      sql`select ${id} as id from ${rawSql(of.name)} t where t.account_id = ${account} and ${id} = any(${ids}) and ${of.found}`,
  });
  lookups.set(reference, made);
  return made;
}

function referenceOf({ app }: Context, kind: string): Reference {
  const reference = app.registry.references.get(kind);
  if (!reference) throw new Error(`No module declares references to ${kind}`);
  return reference;
}

async function existingOf(ctx: Context, kind: string, ids: string[]): Promise<string[]> {
  const found = await ctx.rows(lookupOf(kind, referenceOf(ctx, kind)), { ids });
  return found.map(({ id }) => `${kind}/${id}`);
}

async function whichExist(ctx: Context, keys: readonly string[]): Promise<boolean[]> {
  const wanted = new Map<string, string[]>();
  for (const [kind, id] of keys.map((key) => key.split('/') as [string, string])) wanted.set(kind, [...(wanted.get(kind) ?? []), id]);
  const found = new Set((await Promise.all([...wanted].map(([kind, ids]) => existingOf(ctx, kind, ids)))).flat());
  return keys.map((key) => found.has(key));
}

const existing = batched(whichExist);

const seenIn = perContext(() => new Set<string>());

/** Notes that a live record was read in this unit of work, so that it is not asked for again where something refers to it. */
export function sawReference(ctx: Context, kind: string, id: string): void {
  seenIn(ctx).add(`${kind}/${id}`);
}

/** Of what is held, an optimistic write makes sure: nobody has to look before. */
async function isKnown(ctx: Context, kind: string, id: string): Promise<boolean> {
  const key = `${kind}/${id}`;
  if (seenIn(ctx).has(key)) return true;
  if (!referenceOf(ctx, kind).held || !ctx.unit?.isOptimistic || ctx.unit.isOpen) return existing(ctx, key);
  ctx.unit.readsMayBeStale = true;
  return true;
}

/**
 * Has the next write find a record alive that was read before: whoever has it go waits for this unit of work, and then finds what it
 * wrote. Where the record is gone by then, the operation is tried again.
 */
export function holdReference(ctx: Context, kind: string, id: string): void {
  const { of } = referenceOf(ctx, kind);
  // By its name it is held before the records that are changed: as who has it go takes it first, and then what leads to it.
  ctx.unit?.lockRow(
    { name: `about ${kind}`, table: of.name, key: of.key, live: of.found, strength: 'key share' },
    ctx.caller.account.id,
    id,
  );
}

/** What is wrong with a field that names nobody. */
export const nobody: Fault = { code: 'not_found', message: 'names no record of this account' };

type Body<F extends string> = Partial<Record<F, string | null>>;

/**
 * The given fields whose id no live record of the account has. One statement for all that is asked at the same moment, none
 * where nothing is given. Where something is written, those that are there stay so until it is: of the kinds that are held.
 */
export async function missingReferences<F extends string>(ctx: Context, of: ReferenceKinds<F>, body: Body<F>): Promise<string[]> {
  const given = (Object.keys(of) as F[]).filter((field) => body[field]);
  const known = await Promise.all(given.map((field) => isKnown(ctx, of[field], body[field]!)));
  for (const [i, field] of given.entries()) if (known[i] && referenceOf(ctx, of[field]).held) holdReference(ctx, of[field], body[field]!);
  return given.filter((_field, i) => !known[i]);
}

/** Of the fields that refer to something, those that a change gives a new value: what stays is not asked for again. */
export function changedReferences<F extends string>(of: ReferenceKinds<F>, before: Body<F>, input: Body<F>): Body<F> {
  const changed = (Object.keys(of) as F[]).filter((field) => input[field] !== undefined && input[field] !== before[field]);
  return Object.fromEntries(changed.map((field) => [field, input[field]])) as Body<F>;
}

/** Throws 400 naming every one of them. */
export function refuseMissing(fields: string[]): void {
  if (fields.length > 0) throw invalid(fields.map((field) => ({ field, ...nobody })));
}

/** Throws 400 naming every given field whose id no live record of the account has. */
export async function checkReferences<F extends string>(ctx: Context, of: ReferenceKinds<F>, body: Body<F>): Promise<void> {
  refuseMissing(await missingReferences(ctx, of, body));
}
