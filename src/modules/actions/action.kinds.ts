import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import type { Changes } from '../../kernel/events/changes.js';
import type { ContactRow } from '../contacts/contact.service.js';
import type { MergeValues } from '../templates/template.mergeFields.js';
import type { Config, ConfigFields, ReportFault } from './action.config.js';

/** An action of a workflow or an automation. */
export interface Action {
  type: string;
  config: Config;
}

/** What happened that a run is about. */
export interface TriggeringEvent {
  /** The name of the event; null where nothing happened, as when a person starts a run. */
  event: string | null;
  eventId: string | null;
  at: Date;
  /** The type of the record that it happened to, as __typename has it. */
  type: string | null;
  /** The record as it was shown then. */
  data: Readonly<Record<string, unknown>>;
  changes?: Changes | null;
}

/** What actions are done for: a run, and what triggered it. */
export interface RunTrigger {
  run: Cause & { name: string };
  triggeredBy: TriggeringEvent;
  /** The contact that it is about; null where it is about none. */
  contactId: string | null;
}

/** What triggered a run, with what actions need of it, which is read once for all actions of a transaction. */
export interface ActionContext extends RunTrigger {
  /** What is unique to this doing of this action in the run: its index, or the number of the step. */
  place: number;
  /** The contact as it is now. Throws 404 where the run is about none, or it is deleted. */
  contact(): Promise<ContactRow>;
  /**
   * The contact for whom it is done, as it is now. Null where it is done for nobody: the run is about none, or about something else that
   * was of a contact who is deleted. Throws 404 where the run is about a deleted contact alone.
   */
  forWhom(): Promise<ContactRow | null>;
  /** What placeholders may name. */
  values(): Promise<MergeValues>;
  /** The same for texts that people read: amounts are written with their decimals. */
  words(): Promise<MergeValues>;
}

/** What became of an action that did not fail. */
export interface Outcome {
  status: 'success' | 'skipped';
  /** What it did, or why it was skipped. */
  result: Readonly<Record<string, unknown>>;
  /** Ids of what it made, which are of nothing where it was only tried. */
  made?: Readonly<Record<string, string>>;
}

/** A record that a field of a configuration names, of a kind that a module declares in `references`. */
export interface Named {
  member: string;
  kind: string;
  id: string;
}

/** A kind of action. */
export interface ActionKind {
  fields: ConfigFields;
  /** What else is wrong with a configuration whose fields are right by themselves. */
  check?(ctx: Context, config: Config, reportFault: ReportFault): void | Promise<void>;
  /** What a configuration names besides what its fields are said to name. */
  names?(config: Config): Named[];
  /** Does it, as part of the unit of work. What it throws says whether it may succeed later. */
  perform(ctx: Context, config: Config, at: ActionContext): Promise<Outcome>;
}

const ofPeople = new Set(['toEmail', 'subject', 'title', 'newValue', 'seen']);

/** What actions did and conditions saw, without people: events of runs are for those as well who may not read contacts. */
export const withoutPeople = <T>(result: T): T =>
  JSON.parse(JSON.stringify(result), (name, value) => (ofPeople.has(name) ? undefined : value)) as T;

export const success = (result: Outcome['result'], made?: Outcome['made']): Outcome => ({ status: 'success', result, made });
export const skipped = (reason: string): Outcome => ({ status: 'skipped', result: { reason } });
