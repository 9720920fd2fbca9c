import { minuteMs, secondMs } from '../../kernel/base/durations.js';
import { AppError, found, internalError, invalid, statusOf } from '../../kernel/base/errors.js';
import { shortened } from '../../kernel/base/unicode.js';
import { type Context, readOrReuse } from '../../kernel/context/context.js';
import { fromDatabase } from '../../kernel/database/errors.js';
import { missingReferences, nobody, sawReference } from '../../kernel/operations/references.js';
import { type ContactRow, contactLoader, contactRows } from '../contacts/contact.service.js';
import { channelsOf, holdForMail, isOfTexts } from '../templates/template.mailed.js';
import type { MergeValues } from '../templates/template.mergeFields.js';
import { cleanConfig, Faults, type ReportFault } from './action.config.js';
import type { Action, ActionContext, ActionKind, Named, Outcome, RunTrigger } from './action.kinds.js';
import { enrollSequence, sendEmail, sendWebhook } from './action.messages.js';
import { assignContact, makeTask } from './action.records.js';
import { updateField } from './action.update.js';
import { valuesOf, withWrittenAmounts } from './action.values.js';

export type { Action, Outcome, RunTrigger, TriggeringEvent } from './action.kinds.js';

/** Contract "Workflow", actions: each type with what its configuration takes. */
export const actionKinds = {
  assign_contact: assignContact,
  send_email: sendEmail,
  create_task: makeTask,
  update_field: updateField,
  send_webhook: sendWebhook,
  enroll_sequence: enrollSequence,
} as const satisfies Record<string, ActionKind>;

export type ActionType = keyof typeof actionKinds;

/** An action and the place where it stands: "actions.2". */
export interface Placed extends Action {
  at: string;
}

/**
 * The actions with their configurations cleaned. Throws 400 naming everything that is wrong with them, records of the account that
 * are not there included: `actions.2.config.templateId`.
 */
export async function checkActions(ctx: Context, actions: readonly Placed[]): Promise<Action[]> {
  // Each has its own, so that they are told in the order of the actions and not in that in which the database answers.
  const faults = actions.map(() => new Faults());
  const reporters = actions.map(({ at }, i) => faults[i]!.at(`${at}.config`));
  const details = () => faults.flatMap((own) => own.details);
  const cleaned = await Promise.all(
    actions.map(async ({ type, config }, i) => {
      const kind: ActionKind = actionKinds[type as ActionType];
      const own = cleanConfig(kind.fields, config, reporters[i]!, { account: ctx.caller.account });
      await kind.check?.(ctx, own, reporters[i]!);
      return { type, config: own };
    }),
  );
  // Of what is no id nobody asks the database.
  if (details().length === 0) await Promise.all([checkNames(ctx, cleaned, reporters), checkTemplates(ctx, cleaned, reporters)]);
  const all = details();
  if (all.length > 0) throw invalid(all.slice(0, 100));
  return cleaned;
}

/** The records that a configuration names, by their kinds. */
function namesIn({ type, config }: Action): Named[] {
  const { fields, names: own }: ActionKind = actionKinds[type as ActionType];
  const byFields = Object.entries(fields).flatMap(([member, { names }]) =>
    names && typeof config[member] === 'string' ? [{ member, kind: names, id: config[member] }] : [],
  );
  return [...byFields, ...(own?.(config) ?? [])];
}

async function checkNames(ctx: Context, actions: readonly Action[], reporters: readonly ReportFault[]): Promise<void> {
  await Promise.all(
    actions.map(async (action, i) => {
      const named = namesIn(action);
      const kinds = Object.fromEntries(named.map(({ member, kind }) => [member, kind]));
      const missing = await missingReferences(ctx, kinds, Object.fromEntries(named.map(({ member, id }) => [member, id])));
      for (const member of missing) reporters[i]!(member, nobody.code, nobody.message);
    }),
  );
}

const templatesIn = (action: Action) => namesIn(action).filter(({ kind }) => kind === 'template');

/** Reports templates that are there, and not for e-mails: no action sends anything else by one. */
async function checkTemplates(ctx: Context, actions: readonly Action[], reporters: readonly ReportFault[]): Promise<void> {
  const named = actions.flatMap((action, i) => templatesIn(action).map((one) => ({ ...one, reportFault: reporters[i]! })));
  const channels = await channelsOf(
    ctx,
    named.map(({ id }) => id),
  );
  for (const { member, id, reportFault } of named)
    if ((channels.get(id) ?? 'email') !== 'email') reportFault(member, isOfTexts.code, isOfTexts.message);
}

/**
 * Has the next write hold the templates that actions name: who archives one finds what names it, or is found by it. For what makes
 * use of them from then on.
 */
export function holdTemplates(ctx: Context, actions: readonly Action[]): void {
  for (const id of new Set(actions.flatMap(templatesIn).map((named) => named.id))) holdForMail(ctx, id);
}

/** Whether the account may have actions done that send e-mail, or enroll for it: whoever has them begin is asked for it. */
export const sendsEmail = (actions: readonly Action[]): boolean =>
  actions.some(({ type }) => type === 'send_email' || type === 'enroll_sequence');

type ReadContact = () => Promise<Record<string, unknown> | null>;

/** The contact of a run as it is now; null where it is about none, or it is deleted. */
async function presentContact(ctx: Context, read: ReadContact): Promise<ContactRow | null> {
  const contact = (await read()) as ContactRow | null;
  if (contact) sawReference(ctx, 'contact', contact.id);
  return contact;
}

/** Whether a run is about its contact alone: it happened to the contact, or somebody had it begin for them. */
const isOfContact = ({ contactId, triggeredBy: { type } }: RunTrigger): boolean =>
  contactId !== null && (type === null || type === 'Contact');

/** The contact of this id as it is now, which an action may change; null where there is none. */
export const readContact = async (ctx: Context, id: string | null): Promise<Record<string, unknown> | null> =>
  id ? readOrReuse<ContactRow>(ctx, contactRows, id, () => contactLoader(ctx).fresh(id)) : null;

/** What changes the contact itself. */
const changing = new Set(['assign_contact', 'update_field']);

/**
 * Does the actions of a run, one after the other, as part of one unit of work: what they read of its contact is read once. `read`
 * may have the contact already, and reads it anew after an action that changes it.
 */
export function actionPerformer(
  ctx: Context,
  trigger: RunTrigger,
  read: ReadContact = () => readContact(ctx, trigger.contactId),
): (action: Action, place: number) => Promise<Outcome> {
  let known: Promise<ContactRow | null> | undefined;
  const present = (): Promise<ContactRow | null> => {
    known ??= presentContact(ctx, read);
    return known;
  };
  const contact = async (): Promise<ContactRow> => found(await present(), 'Contact');
  // What is about something else does not end with the contact.
  const forWhom = (): Promise<ContactRow | null> => (isOfContact(trigger) ? contact() : present());
  const valuesBy = async (told: RunTrigger): Promise<MergeValues> => {
    const whom = await forWhom();
    return { contact: null, ...valuesOf(ctx, told), ...(whom && { contact: whom }) };
  };
  const values = () => valuesBy(trigger);
  const words = () => valuesBy(withWrittenAmounts(ctx, trigger));
  return async ({ type, config }, place) => {
    const at: ActionContext = { ...trigger, place, contact, forWhom, values, words };
    const outcome = await (actionKinds[type as ActionType] as ActionKind).perform(ctx, config, at);
    // What an action changes of the contact the next one is to see.
    if (changing.has(type)) known = undefined;
    return outcome;
  };
}

/** Whether what an action threw may pass: a fault of ours or of the database, and not what is wrong with the action or its records. */
export function mayPass(error: unknown): boolean {
  const known = fromDatabase(error) ?? error;
  return !(known instanceof AppError) || statusOf[known.code] >= 500 || known.code === 'rate_limited';
}

/** How long after a fault that may pass an action is tried again; after the last one the run fails. */
export const pauses = [10 * secondMs, minuteMs];

/** What an error is to people who look at a run, as "code: message": ours say nothing of themselves. */
export function errorText(error: unknown): string {
  const known = fromDatabase(error) ?? error;
  const { code, message } = known instanceof AppError && statusOf[known.code] < 500 ? known : internalError();
  return shortened(`${code}: ${message}`, 1000);
}

/** The contact for whom a run acts that an event started: none where the contact was deleted. */
export const contactAfterEvent = (event: string, contactId: string | null): string | null =>
  event === 'contact.deleted' ? null : contactId;
