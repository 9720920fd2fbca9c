import type { Context } from '../../kernel/context/context.js';
import { decimal, flag, instant, listOf, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { Decimal } from '../../kernel/model/scalars.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { checkKnownZone } from '../../kernel/tables/zones.js';
import { callersChanged } from '../auth/auth.identify.js';
import { tellWorkspace } from '../auth/auth.service.js';
import type { UpdateWorkspaceSettingsInput } from './workspace.model.js';

const settings = {
  id: uuid,
  name: text,
  timezone: text,
  defaultCountry: text,
  currency: text,
  defaultTaxRate: decimal,
  lostReasonRequired: flag,
  lostReasons: listOf(text),
  createdAt: instant,
  updatedAt: instant,
};
export type SettingsRow = RowOf<typeof settings>;

const columns = sql`a.id, a.name, a.timezone, a.default_country as "defaultCountry", a.currency, a.default_tax_rate::text as "defaultTaxRate",
  a.lost_reason_required as "lostReasonRequired", a.lost_reasons as "lostReasons", a.created_at as "createdAt", a.updated_at as "updatedAt"`;

const own = statement({
  name: 'workspaceSettings',
  row: settings,
  text: ({ account }) => sql`select ${columns} from accounts a where a.id = ${account}`,
});

const lockWorkspace = statement({
  name: 'lockWorkspace',
  row: settings,
  locks: true,
  text: ({ account }) => sql`select ${columns} from accounts a where a.id = ${account} for no key update`,
});

/** GET /settings/workspace: how the caller's workspace is set. */
export const getSettings = async (ctx: Context): Promise<SettingsRow> => (await ctx.rows(own))[0]!;

const write = statement({
  name: 'changeWorkspace',
  takes: {
    name: text,
    timezone: text,
    country: text,
    currency: text,
    taxRate: decimal,
    lostReasonRequired: flag,
    lostReasons: listOf(text),
    now: instant,
  },
  row: settings,
  changes: true,
  text: ({ account, name, timezone, country, currency, taxRate, lostReasonRequired, lostReasons, now }) => sql`
    update accounts a set name = ${name}, timezone = ${timezone}, default_country = ${country}, currency = ${currency},
      default_tax_rate = ${taxRate}::numeric, lost_reason_required = ${lostReasonRequired}, lost_reasons = ${lostReasons}, updated_at = ${now}
    where a.id = ${account} returning ${columns}`,
});

const clocks = 'clocks of the workspace';

/**
 * From here to the end the workspace keeps its time zone: for what takes a moment by it (`timezoneNow`) that who sets another one would not
 * find. It is called before anything is held that the change of the zone may hold.
 */
export const holdTimezone = (ctx: Context): Promise<void> => ctx.shareName(clocks);

const timezone = statement({
  name: 'timezoneOfWorkspace',
  row: { timezone: text },
  text: ({ account }) => sql`select a.timezone from accounts a where a.id = ${account}`,
});

/**
 * The time zone of the workspace as it is now, IANA: whoever took up the work may have read the account before it was set to another one.
 * Who keeps a moment by it asks once they hold the row of the moment: the reaction to the change of the zone holds those rows as well,
 * such as automations that have a schedule. What that reaction would not find, as a row that is not active yet, needs `holdTimezone` first.
 */
export const timezoneNow = async (ctx: Context): Promise<string> => (await ctx.rows(timezone))[0]!.timezone;

/** PATCH /settings/workspace. What is new holds at once for who changed it, and within a second for everybody. */
export async function updateSettings(ctx: Context, input: UpdateWorkspaceSettingsInput): Promise<SettingsRow> {
  // What is set already stays as it is, whatever the database knows of it.
  if (input.timezone && input.timezone !== ctx.caller.account.timezone) await checkKnownZone(ctx, 'timezone', input.timezone);
  const saved = await inFinalTransaction(ctx, async (inside) => {
    if (input.timezone !== undefined) await inside.lockName(clocks);
    const [before] = await inside.rows(lockWorkspace);
    const after = { ...before!, ...input };
    // As the settings show it: an exact decimal is a number there.
    const shown = (row: SettingsRow) => ({ ...row, defaultTaxRate: Decimal.serialize(row.defaultTaxRate) });
    const changes = changesBetween(shown(before!), shown(after), Object.keys(input));
    if (isNothing(changes)) return before!;
    const { defaultCountry: country, defaultTaxRate: taxRate } = after;
    const [changed] = await inside.rows(write, { ...after, country, taxRate, now: inside.now() });
    await tellWorkspace(inside, changes);
    callersChanged(inside);
    return changed!;
  });
  return saved;
}
