import { describe, expect, it } from '@jest/globals';
import { type GraphQLObjectType, isObjectType } from 'graphql';
import { contract } from '../../src/app.js';
import { eventKindOf, everyChange, fieldOf } from '../../src/kernel/events/recordEvents.js';
import { modules } from '../../src/modules.js';

const { schema } = contract();
const events = modules.flatMap((module) => (module.events ?? []).map(({ of }) => of));

/** Types with an id that are no records of their own: parts of others, told of with them, or not the workspace's. */
const parts = [
  ...['InvoiceItem', 'SequenceStep'], // lines, which are replaced as a whole with what they are lines of
  'WebhookDelivery', // webhooks are told of everything: of what they were told as well, and there would be no end
  'ImportError', // a row of an import
  'CallFlowVersion', // what was published, told of with its call flow
  'CustomFieldCleanup', // the progress of a deletion that was told
  'BillingInvoice', // the payments vendor's
];

/** What does not happen to records of a type, by their nature. */
const never: Record<string, string[]> = {
  Workspace: ['created', 'deleted'], // it is there before anybody hears of it, and is not deleted
  Activity: ['updated', 'deleted'], // the log is not rewritten
  Payment: ['updated', 'deleted'], // money that was received stays received
  Invoice: ['deleted'], // one that is wrong is voided, since its number must not be missing
  Message: ['deleted'], // what was said was said; what waits is cancelled
  Conversation: ['created', 'deleted'], // it begins with its first message
  Sequence: ['deleted'], // one that is not wanted any more is inactive
  Enrollment: ['deleted'], // it ends, and what was sent stays
  WorkflowRun: ['deleted'], // it ends, and what it did stays
  AutomationRun: ['deleted'], // it ends, and what it did stays
  AutomationStepLog: ['deleted'],
  LineAssignment: ['updated'], // a line that goes from one agent to another is released and assigned
  Import: ['deleted'], // what was imported remembers it
  CallFlow: ['deleted'], // one that is not wanted any more is unpublished; calls remember it
  Call: ['deleted'], // what was said was said
  Calendar: ['deleted'], // the contract deletes none: appointments lead to it
  Submission: ['deleted'], // what was filled in is kept, its consent with it
};

/** Record types without a list of their own: all of them come along with the record that they belong to. */
const carried = ['Stage', 'VendorConnection', 'LineAssignment', 'Workspace'];

const isEvent = ({ name }: GraphQLObjectType) => events.some(({ type }) => name === `${type}Event`) || name === 'Event';
const records = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  // A conversation is known by its contact.
  .filter((type) => (type.getFields().id || type.name === 'Conversation') && !isEvent(type) && !parts.includes(type.name));

describe('every record type', () => {
  it('is one of those that the modules declare events of', () => {
    expect(records.map(({ name }) => name).sort()).toEqual(events.map(({ type }) => type).sort());
    expect(parts.filter((name) => !schema.getType(name))).toEqual([]);
  });

  it.each(records.map(({ name }) => name))('%s has its events, its typed subscription, its connection and its filter', (name) => {
    const of = events.find(({ type }) => type === name)!;
    const kinds = schema.getType('EventKind') as unknown as { getValue(kind: string): unknown };
    for (const fact of everyChange.filter((fact) => !never[name]?.includes(fact))) {
      expect(of.names).toContain(`${of.noun}.${fact}`);
      expect(kinds.getValue(eventKindOf(`${of.noun}.${fact}`))).toBeDefined();
    }
    for (const fact of never[name] ?? []) expect(of.names).not.toContain(`${of.noun}.${fact}`);
    const subscription = schema.getSubscriptionType()!.getFields()[`${fieldOf(of)}Events`]!;
    expect(subscription.args.map((arg) => arg.name)).toEqual(
      expect.arrayContaining([`${fieldOf(of)}Id`, 'names', 'kinds', 'batches', 'after']),
    );
    const lists = [`${name}Connection`, `${name}Filter`].map((type) => Boolean(schema.getType(type)));
    expect(lists).toEqual(carried.includes(name) ? [false, false] : [true, true]);
  });
});
