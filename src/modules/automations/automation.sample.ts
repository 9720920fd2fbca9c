import type { JsonSchema } from '../../kernel/model/recordSchema.js';

const byFormat: Record<string, string> = {
  uuid: '0190a1b2-c3d4-7e5f-8a6b-9c0d1e2f3a4b',
  'date-time': '2026-03-01T09:30:00.000Z',
  date: '2026-03-01',
};

/** Values that say what they are. */
const byName: Record<string, unknown> = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  name: 'Example',
  title: 'Example',
  email: 'ada@example.com',
  phone: '+14155550100',
  company: 'Example Ltd',
  currency: 'USD',
  city: 'London',
  country: 'GB',
  timezone: 'Europe/London',
  subject: 'Hello',
  body: 'Hello',
};

/** A value that is valid by a schema: the first of what it may be. `name` is the member that it is of. */
export function sampleOf(schema: JsonSchema, name = ''): unknown {
  if ('const' in schema) return schema.const;
  const [word] = ((schema.examples ?? schema.enum) as unknown[] | undefined) ?? [];
  if (word !== undefined) return word;
  const [type] = [schema.type].flat();
  if (type === 'object') return objectOf(schema);
  if (type === 'array') return [sampleOf((schema.items ?? {}) as JsonSchema)];
  if (type === 'string') return byFormat[String(schema.format)] ?? textOf(name);
  if (type === 'integer' || type === 'number') return 1;
  return type === 'boolean' ? false : null;
}

const textOf = (name: string) => {
  const known = byName[name];
  return typeof known === 'string' ? known : 'text';
};

const objectOf = ({ properties = {} }: JsonSchema): object =>
  Object.fromEntries(Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => [name, sampleOf(schema, name)]));
