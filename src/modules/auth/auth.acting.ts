import type { AccountInfo, Actor, Principal } from '../../kernel/base/principal.js';
import { type App, Context, type RequestInfo } from '../../kernel/context/context.js';
import { emptySql, type Sql, sql } from '../../kernel/database/sql.js';
import { type Bound, listedSql, slot, Template } from '../../kernel/database/statement.js';
import { accountColumns } from './auth.callers.js';
import { principalOf } from './auth.identify.js';
import { accountInfo } from './auth.session.js';

/** Who changes something for an account when nobody is calling. */
const system: Actor = { kind: 'system', id: null, name: 'System' };

export interface ActingOptions {
  /** Whose doing it is in the log. */
  actor?: Actor;
  requestId?: string;
  /**
   * Whether a suspended account acts too. Only for what nobody tells a second time: opt-outs, complaints, and what became of a message.
   */
  evenSuspended?: boolean;
}

/**
 * The context in which an account acts although nobody is calling: for forms, inbound messages, sequences. The log names the actor. An
 * account that is unknown has none; one that is suspended only with `evenSuspended`.
 */
export async function actingForAccount(
  app: App,
  id: string,
  { actor = system, requestId, evenSuspended = false }: ActingOptions = {},
): Promise<Context | undefined> {
  const account = await app.database.prisma.account.findFirst({ where: { id, ...(!evenSuspended && { suspendedAt: null }) } });
  const request = { id: requestId ?? app.clock.id(), ip: '127.0.0.1' };
  return account ? new Context(app, request, accountPrincipal(accountInfo(account), actor)) : undefined;
}

const accountPrincipal = (account: Principal['account'], actor: Actor): Principal => ({
  kind: 'account',
  id: account.id,
  userId: null,
  userName: actor.name,
  role: 'admin',
  tier: 'admin',
  scopes: null,
  actor,
  account,
});

/** A context in the same unit of work for what follows by itself from what a caller finds: the log names the system. */
export const asSystem = (ctx: Context): Context => ctx.as(accountPrincipal(ctx.caller.account, system));

/** An account as a statement that finds work selects it. */
export type FoundAccount = Omit<AccountInfo, 'trialEndsAt'> & { trialEndsAt: string | null };

/** What such a statement selects of it, alias `a`, as one JSON value; null where it is suspended. */
export const foundAccount = sql`case when a.suspended_at is null then (select row_to_json(own) from (select ${accountColumns}) own) end`;

/** The context in which an account that was found acts. */
export function actingAs(app: App, found: FoundAccount, { actor = system, request }: { actor?: Actor; request: RequestInfo }): Context {
  const trialEndsAt = found.trialEndsAt && new Date(found.trialEndsAt);
  return new Context(app, request, accountPrincipal(accountInfo({ ...found, trialEndsAt: trialEndsAt || null }), actor));
}

interface AccountSelect {
  /** What else is selected there, as one JSON value. */
  value: Sql;
  from: Sql;
  /** Whether a suspended account is found as well; by default it is not. */
  evenSuspended?: boolean;
}

/** The one account, alias `a`, that a from clause finds, and a value of it; one that is suspended only with `evenSuspended`. */
export const accountAt = ({ value, from, evenSuspended = false }: AccountSelect): Template =>
  new Template(
    listedSql(sql`select ${accountColumns}, ${value} as value from ${from}${evenSuspended ? emptySql : sql` and a.suspended_at is null`}`),
  );

/**
 * The context of the account that such a statement finds, in which the actor acts, and the value; undefined where there is none. One
 * statement: strangers wait for it.
 */
export async function actingAt<T>(ctx: Context, account: Bound, actor: Actor) {
  const [found] = JSON.parse(await ctx.lookup(account)) as (FoundAccount & { value: T })[];
  if (!found) return undefined;
  return { acting: actingAs(ctx.app, found, { actor, request: ctx.request }), value: found.value };
}

/** A form with its columns, alias `t`, and the account that it is of. */
export const formAt = (columns: Sql): Template =>
  accountAt({
    value: sql`(select row_to_json(own) from (select ${columns} from (select f.*) t) own)`,
    from: sql`public_forms p join forms f on f.account_id = p.account_id and f.id = p.id join accounts a on a.id = p.account_id
      where p.id = ${slot('id', 'uuid')}`,
  });

/**
 * The context in which a form acts for its account, whoever fills it in, and its columns as JSON; undefined where there is no such
 * form, or its account is suspended.
 */
export async function actingForForm<Form extends { name: string }>(ctx: Context, formId: string, form: Template) {
  const found = await actingAt<Form>(ctx, form.with({ id: formId }), { kind: 'form', id: formId, name: '' });
  if (!found) return undefined;
  const { acting, value } = found;
  return {
    form: value,
    acting: new Context(ctx.app, ctx.request, accountPrincipal(acting.caller.account, { kind: 'form', id: formId, name: value.name })),
  };
}

/**
 * The context of work that a person started and does not wait for: as that person, with all rights in the account, and told as the doing
 * of the API key that asked for it, where one did. Where the person was removed meanwhile, it is the account's own. Undefined where the
 * account is suspended.
 */
export async function actingForPerson(
  app: App,
  accountId: string,
  userId: string | null,
  jobId: string,
  actor?: Actor,
): Promise<Context | undefined> {
  const member = userId
    ? await app.database.prisma.membership.findFirst({
        where: { accountId, userId, status: 'active', account: { suspendedAt: null } },
        include: { account: true },
      })
    : null;
  if (!member) return actingForAccount(app, accountId, { requestId: `job-${jobId}` });
  const principal = { ...principalOf('job', jobId, member, { tier: 'admin', scopes: null }), actor };
  return new Context(app, { id: `job-${jobId}`, ip: '127.0.0.1' }, principal);
}

/** The context of the account that has claimed a phone number, as `actingForAccount` has it; undefined where none has. */
export async function actingForNumber(app: App, number: string, acting: ActingOptions): Promise<Context | undefined> {
  const claimed = await app.database.prisma.phoneNumber.findUnique({ where: { number } });
  return claimed ? actingForAccount(app, claimed.accountId, acting) : undefined;
}
