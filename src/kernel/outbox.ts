import { isDeepStrictEqual } from 'node:util';
import type { Prisma } from '../generated/prisma/client.js';
import type { Context } from './context.js';
import { recordOf } from './record.js';

/** A field's old and new value. */
export type Changes = Record<string, { from: unknown; to: unknown }>;

/** Something that happened to a record. */
export interface Fact {
  /** The event's name: "contact.updated". */
  name: string;
  /** The GraphQL type of the record, "Contact". */
  type: string;
  record: { id: string };
  changes?: Changes;
  /** What the log entry hangs on besides its own entity. */
  contactId?: string | null;
  dealId?: string | null;
}

const actions: Record<string, string> = { created: 'created', deleted: 'deleted' };

/** The log entry's title: "contact.stage_changed" → "Contact stage changed". */
const titleOf = (name: string) => {
  const words = name.replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The facts of one operation: an event row and a log entry each, written together and last. */
export class Outbox {
  readonly #facts: Fact[] = [];
  /** Whether event rows were written. */
  wrote = false;

  constructor(private readonly ctx: Context) {}

  async add(fact: Fact): Promise<void> {
    this.#facts.push(fact);
    for (const reaction of this.ctx.app.registry.reactions.get(fact.name) ?? []) await reaction(this.ctx, fact);
  }

  async flush(): Promise<void> {
    const facts = this.#facts.splice(0);
    if (facts.length === 0) return;
    this.wrote = true;
    await this.ctx.db.activity.createMany({ data: facts.map((fact) => this.#logEntry(fact)) });
    await this.ctx.db.outboxEvent.createMany({ data: facts.map((fact) => this.#event(fact)) });
  }

  #logEntry(fact: Fact) {
    const { userId, userName } = this.ctx.caller;
    return {
      type: fact.name,
      title: titleOf(fact.name),
      entityType: fact.type.toLowerCase(),
      entityId: fact.record.id,
      action: actions[fact.name.split('.')[1] ?? ''] ?? 'updated',
      changes: fact.changes as Prisma.InputJsonValue | undefined,
      contactId: fact.contactId,
      dealId: fact.dealId,
      userId,
      userName,
    };
  }

  #event(fact: Fact) {
    const { userId, userName } = this.ctx.caller;
    return {
      name: fact.name,
      entityType: fact.type.toLowerCase(),
      entityId: fact.record.id,
      data: recordOf(this.ctx.app.registry.schema(), fact.type, fact.record) as Prisma.InputJsonObject,
      changes: fact.changes as Prisma.InputJsonValue | undefined,
      actorId: userId,
      actorName: userName,
      requestId: this.ctx.request.id,
    };
  }
}

const plain = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : (value ?? null);
};

/** What differs between two states of a record, field by field; `customFields.key` is one entry a key. */
export function changesBetween(before: object, after: object, fields: readonly string[]): Changes {
  const [old, fresh] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const changes: Changes = {};
  const note = (field: string, from: unknown, to: unknown) => {
    // Not as text: jsonb answers the keys of an object in an order of its own.
    if (!isDeepStrictEqual(from, to)) changes[field] = { from, to };
  };
  for (const field of fields) {
    if (field === 'customFields') {
      const [a, b] = [old[field] ?? {}, fresh[field] ?? {}] as Record<string, unknown>[];
      for (const key of new Set([...Object.keys(a!), ...Object.keys(b!)])) note(`customFields.${key}`, plain(a![key]), plain(b![key]));
    } else note(field, plain(old[field]), plain(fresh[field]));
  }
  return changes;
}
