import type { Context } from '../../kernel/context/context.js';
import { text } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween } from '../../kernel/events/changes.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { Automation } from './automation.model.js';
import { type AutomationRow, automationTable } from './automation.table.js';

const automationRows = rowsToChange(automationTable);

const timezone = statement({
  name: 'timezoneOfWorkspace',
  row: { timezone: text },
  text: ({ account }) => sql`select a.timezone from accounts a where a.id = ${account}`,
});

/**
 * The time zone of the workspace as it is now, IANA: whoever took up the work may have read the account before it was set to another
 * one. It is asked once the automation is held: who sets it holds those that have a schedule. Of one that is not active yet, or has no
 * next moment, the zone itself is held before (`holdTimezone`).
 */
export const timezoneNow = async (ctx: Context): Promise<string> => (await ctx.rows(timezone))[0]!.timezone;

/** One automation, to be changed, or 404. */
export const automationForChange = (ctx: Context, id: string) => ctx.forChange(automationRows, id);

const tracked = namesOf(Automation).filter((name) => !['id', 'createdAt', 'updatedAt', 'runCount', 'lastTriggered'].includes(name));

/** What differs between two states of an automation. */
export const changesOf = (before: AutomationRow, after: AutomationRow): Changes => changesBetween(before, after, tracked);
