import { notFound } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { decimal, flag, instant, integer, listOf, type RowOf, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween } from '../../kernel/events/facts.js';
import { concluded } from '../../kernel/operations/concluded.js';
import { forgetCallers } from '../auth/auth.identify.js';
import type { Workspace } from '../auth/auth.member.model.js';
import type { UpdateWorkspaceSettingsInput } from './workspace.model.js';

const settings = {
  ...{ id: uuid, name: text, timezone: text, defaultCountry: text, currency: text, defaultTaxRate: decimal },
  ...{ lostReasonRequired: flag, lostReasons: listOf(text), createdAt: instant, updatedAt: instant },
};
export type SettingsRow = RowOf<typeof settings>;

const columns = sql`a.id, a.name, a.timezone, a.default_country as "defaultCountry", a.currency, a.default_tax_rate::text as "defaultTaxRate",
  a.lost_reason_required as "lostReasonRequired", a.lost_reasons as "lostReasons", a.created_at as "createdAt", a.updated_at as "updatedAt"`;

const own = statement({
  name: 'workspaceSettings',
  row: settings,
  text: ({ account }) => sql`select ${columns} from accounts a where a.id = ${account}`,
});

const toChange = statement({
  name: 'workspaceToChange',
  row: settings,
  locks: true,
  text: ({ account }) => sql`select ${columns} from accounts a where a.id = ${account} for no key update`,
});

/** GET /settings/workspace: how the caller's workspace is set. */
export const getSettings = async (ctx: Context): Promise<SettingsRow> => (await ctx.rows(own))[0]!;

const write = statement({
  name: 'changeWorkspace',
  takes: {
    ...{ name: text, timezone: text, country: text, currency: text, taxRate: decimal },
    ...{ lostReasonRequired: flag, lostReasons: listOf(text), now: instant },
  },
  row: settings,
  changes: true,
  text: ({ account, name, timezone, country, currency, taxRate, lostReasonRequired, lostReasons, now }) => sql`
    update accounts a set name = ${name}, timezone = ${timezone}, default_country = ${country}, currency = ${currency},
      default_tax_rate = ${taxRate}::numeric, lost_reason_required = ${lostReasonRequired}, lost_reasons = ${lostReasons}, updated_at = ${now}
    where a.id = ${account} returning ${columns}`,
});

/** PATCH /settings/workspace. What is new holds at once for who changed it, and within a second for everybody. */
export async function updateSettings(ctx: Context, input: UpdateWorkspaceSettingsInput): Promise<SettingsRow> {
  const saved = await concluded(ctx, async (inside) => {
    const [before] = await inside.rows(toChange);
    const after = { ...before!, ...input };
    const changes = changesBetween(before!, after, Object.keys(input));
    if (Object.keys(changes).length === 0) return before!;
    const { defaultCountry: country, defaultTaxRate: taxRate } = after;
    const [changed] = await inside.rows(write, { ...after, country, taxRate, now: inside.now() });
    await emitWorkspace(inside, changes);
    return changed!;
  });
  forgetCallers(ctx.app);
  return saved;
}

const workspace = {
  ...{ id: uuid, name: text, plan: word<Workspace['plan']>(), memberCount: integer },
};

const whole = statement({
  name: 'workspace',
  row: workspace,
  text: ({ account }) => sql`
    select a.id, a.name, a.plan, (select count(*) from memberships m where m.account_id = a.id and m.status = 'active')::int as "memberCount"
    from accounts a where a.id = ${account}`,
});

/** The caller's workspace as it is now; 404 for any other. */
export async function getWorkspace(ctx: Context, id: string): Promise<RowOf<typeof workspace>> {
  const [found] = id === ctx.caller.account.id ? await ctx.rows(whole) : [];
  if (!found) throw notFound('Workspace');
  return found;
}

/** Tells what changed of the workspace, in this unit of work. */
export async function emitWorkspace(ctx: Context, changes: Changes): Promise<void> {
  await ctx.emit({ name: 'workspace.updated', record: await getWorkspace(ctx, ctx.caller.account.id), changes });
}
