import { mayUse } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { type JsonSchema, recordSchema } from '../../kernel/model/recordSchema.js';
import { isTrigger } from '../actions/action.trigger.js';
import type { TriggerEvent } from './automation.catalog.model.js';
import type { AutomationKind } from './automation.model.js';
import { sampleOf } from './automation.sample.js';

/** The schema that says how records are shown. */
type Schema = ReturnType<Context['app']['registry']['schema']>;

const changes: JsonSchema = {
  type: 'object',
  description: 'The fields that changed, each with its old and new value',
  additionalProperties: { type: 'object', properties: { from: {}, to: {} }, required: ['from', 'to'] },
};

/** What an event carries to whoever it is told: decisions, "payload". */
function payloadOf(schema: Schema, event: string, type: string): JsonSchema {
  const properties = {
    id: { type: 'string', format: 'uuid', description: 'The id of the event' },
    event: { type: 'string', const: event },
    createdAt: { type: 'string', format: 'date-time' },
    workspaceId: { type: 'string', format: 'uuid' },
    data: { ...recordSchema(schema, type), description: 'The record as it was then' },
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { ...properties, changes },
    required: Object.keys(properties),
  };
}

/** "deal.stage_changed" → "Deal stage changed" */
function labelOf(name: string): string {
  const words = name.replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// It is one for the life of the server.
const described = new WeakMap<Schema, Map<string, { payloadSchema: JsonSchema; sample: object }>>();

function describe(schema: Schema, event: string, type: string) {
  const known = described.get(schema) ?? new Map<string, { payloadSchema: JsonSchema; sample: object }>();
  described.set(schema, known);
  const payloadSchema = payloadOf(schema, event, type);
  const made = known.get(event) ?? { payloadSchema, sample: sampleOf(payloadSchema) as object };
  known.set(event, made);
  return made;
}

const runner: JsonSchema = {
  type: 'object',
  description: 'The run that it is sent for',
  properties: {
    id: { type: 'string', format: 'uuid' },
    runId: { type: 'string', format: 'uuid' },
    contactId: { type: ['string', 'null'], format: 'uuid' },
    workflowId: { type: ['string', 'null'] },
  },
  required: ['id', 'runId', 'contactId', 'workflowId'],
};

/** What a runner elsewhere is sent: the event, with the run. */
function forRunner({ payloadSchema, sample }: ReturnType<typeof describe>): ReturnType<typeof describe> {
  const { properties, required, ...rest } = payloadSchema as { properties: object; required: string[] };
  const whole = { ...rest, properties: { ...properties, automation: runner }, required: [...required, 'automation'] };
  return { payloadSchema: whole, sample: { ...sample, automation: sampleOf(runner) } };
}

/** Contract GET /automations/events: every event that may start a run and the caller may see, by its name; of one kind, or of each. */
export function triggerEvents(ctx: Context, only?: keyof typeof AutomationKind): TriggerEvent[] {
  const kinds = only ? [only] : (['native', 'ext'] as const);
  const { events, schema } = ctx.app.registry;
  const may = [...events].filter(([name, { access }]) => isTrigger(ctx, name) && mayUse(ctx.caller, access));
  const sorted = may.sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([event, { of }]) => {
    const described = describe(schema(), event, of.type);
    return kinds.map((kind) => ({ event, label: labelOf(event), kind, ...(kind === 'ext' ? forRunner(described) : described) }));
  });
}

/** A payload of an event as an example: its record. */
export function recordSample({ app: { registry } }: Context, event: string): Record<string, unknown> {
  const { sample } = describe(registry.schema(), event, registry.events.get(event)!.of.type);
  return (sample as { data: Record<string, unknown> }).data;
}
