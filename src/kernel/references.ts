import type { Context } from './context.js';
import { invalid } from './errors.js';
import { joinSql, type Sql, sql, statement } from './sql.js';

/** What a body may refer to, as a condition that such a record of the account is there and not deleted. */
const kinds = {
  contact: (account: string, id: string) =>
    sql`select 1 from contacts where account_id = ${account}::uuid and id = ${id}::uuid and deleted_at is null`,
  company: (account: string, id: string) =>
    sql`select 1 from companies where account_id = ${account}::uuid and id = ${id}::uuid and deleted_at is null`,
  deal: (account: string, id: string) =>
    sql`select 1 from deals where account_id = ${account}::uuid and id = ${id}::uuid and deleted_at is null`,
  user: (account: string, id: string) =>
    sql`select 1 from memberships where account_id = ${account}::uuid and user_id = ${id}::uuid and status <> 'removed'`,
} satisfies Record<string, (account: string, id: string) => Sql>;

type Kind = keyof typeof kinds;

/** What each field of a body refers to. */
export type ReferenceKinds<F extends string = string> = Record<F, Kind>;

const missing = statement<{ field: string }, [{ field: string; kind: Kind; id: string }[]]>((account, given) => {
  const each = given.map(({ field, kind, id }) => sql`select ${field}::text as field where not exists (${kinds[kind](account, id)})`);
  return joinSql(each, ' union all ');
});

/** What is wrong with a field that names nobody. */
export const nobody = 'names no record of this account';

type Body<F extends string> = Partial<Record<F, string | null>>;

/** The given fields whose id no live record of the account has; one statement, none where nothing is given. */
export async function missingReferences<F extends string>(ctx: Context, of: ReferenceKinds<F>, body: Body<F>): Promise<string[]> {
  const given = (Object.keys(of) as F[]).flatMap((field) => (body[field] ? [{ field, kind: of[field], id: body[field] }] : []));
  return given.length > 0 ? (await ctx.query(missing, given)).map(({ field }) => field) : [];
}

/** Throws 400 naming every one of them. */
export async function checkReferences<F extends string>(ctx: Context, of: ReferenceKinds<F>, body: Body<F>): Promise<void> {
  const fields = await missingReferences(ctx, of, body);
  if (fields.length > 0) throw invalid(fields.map((field) => ({ field, message: nobody })));
}
