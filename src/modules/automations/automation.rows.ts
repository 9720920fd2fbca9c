import type { Context } from '../../kernel/context/context.js';
import { type Changes, changesBetween } from '../../kernel/events/changes.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { Automation } from './automation.model.js';
import { type AutomationRow, automationTable } from './automation.table.js';

const automationRows = rowsToChange(automationTable);

/** One automation, to be changed, or 404. */
export const automationForChange = (ctx: Context, id: string) => ctx.forChange(automationRows, id);

const tracked = namesOf(Automation).filter((name) => !['id', 'createdAt', 'updatedAt', 'runCount', 'lastTriggered'].includes(name));

/** What differs between two states of an automation. */
export const changesOf = (before: AutomationRow, after: AutomationRow): Changes => changesBetween(before, after, tracked);
