import type { Schema } from './openapi.schemas.js';

/** What fields of these names are given: what they take is said in words, which no schema tells. */
const known: Record<string, string> = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  phone: '+14155550123',
  country: 'US',
  timezone: 'UTC',
  scheduleTimezone: 'UTC',
  number: '+14155550123',
  phoneNumber: '+14155550123',
  fromNumber: '+14155550100',
  toNumber: '+14155550123',
  code: '123456',
  domain: 'example.com',
  startTime: '2030-01-15T09:00:00.000Z',
  endTime: '2030-01-15T09:30:00.000Z',
  dueDate: '2030-01-15',
  ...{
    events: 'contact.created',
    fieldKey: 'example_key',
    sort: 'lastName',
    csv: 'firstName,lastName\nAda,Lovelace',
    type: 'note',
    digits: '1',
  },
};

/** What is given besides in bodies that need one of several members, or some unless another says something, which no schema tells. */
const neededIn: Record<string, readonly string[]> = {
  CreateCallInput: ['fromNumber', 'toNumber'],
  BulkEditContactsInput: ['ids'],
  BulkEditDealsInput: ['ids'],
};

/** What is given for fields of these names that take objects of any members. */
const knownObjects: Record<string, object> = { filters: { field: 'lastName', op: 'eq', value: 'Lovelace' } };

const byFormat: Record<string, string> = {
  password: 'a long password',
  date: '2030-01-15',
  'date-time': '2030-01-15T09:00:00.000Z',
};

/** What is written where a pattern is asked for, and takes nothing that the field is known by. The first that it takes is given. */
const patterned = ['#2f6fed', 'USD', '09:00', 'an-example'];

/** How many members an example has that it need not have. */
const most = 2;

type Components = Record<string, Schema>;

/** Bodies that the schemas of the document allow. An id that has to be given is a variable named as its field: `{{pipelineId}}`. */
export class Examples {
  /** The ids that were asked for. */
  readonly ids = new Set<string>();

  constructor(private readonly components: Components) {}

  /** What a body says at least, and a few words more, so that it shows what it is for. */
  of(schema: Schema, name = ''): unknown {
    const { $ref, anyOf, allOf, enum: words } = schema as { $ref?: string; anyOf?: Schema[]; allOf?: Schema[]; enum?: unknown[] };
    if ($ref) return this.#component($ref.split('/').at(-1)!, name);
    if (words) return words[0];
    if (anyOf) return this.of(anyOf[0]!, name);
    // The rest of them are other names.
    if (allOf) return this.of(allOf[0]!, name);
    const kind = kindOf(schema);
    if (kind === 'array') return [this.of((schema.items ?? {}) as Schema, name)];
    if (kind === 'object') return knownObjects[name] ?? this.#object(schema);
    if (kind === 'boolean') return true;
    if (kind === 'number' || kind === 'integer') return Math.max(1, Number(schema.minimum ?? 1));
    return this.#text(schema, name);
  }

  #component(component: string, name: string): unknown {
    const schema = this.components[component]!;
    return this.of({ ...schema, required: [...((schema.required as string[] | undefined) ?? []), ...(neededIn[component] ?? [])] }, name);
  }

  #object({ properties = {}, required = [] }: Schema): Record<string, unknown> {
    const members = Object.entries(properties as Record<string, Schema>);
    const needed = new Set(required as string[]);
    const free = members.filter(([name, member]) => !needed.has(name) && isPlain(name, member)).slice(0, most);
    if (needed.size + free.length === 0) free.push(...members.slice(0, 1));
    const shown = new Set([...needed, ...free.map(([name]) => name)]);
    return Object.fromEntries(members.filter(([name]) => shown.has(name)).map(([name, member]) => [name, this.of(member, name)]));
  }

  #text({ format, pattern, maxLength, minLength, examples }: Schema, name: string): string {
    if (format === 'uuid' || /^ids?$|Ids?$/.test(name)) return this.#id(name);
    if (Array.isArray(examples)) return String(examples[0]);
    if (typeof format === 'string' && byFormat[format]) return byFormat[format];
    if (pattern) return [known[name] ?? '', ...patterned].find((text) => new RegExp(String(pattern), 'u').test(text)) ?? '';
    if (known[name]) return known[name];
    const words = name
      .replace(/([A-Z])/g, ' $1')
      .toLowerCase()
      .trim();
    return `Example ${words || 'text'}`.slice(0, Number(maxLength ?? 200)).padEnd(Number(minLength ?? 0), '.');
  }

  #id(name: string): string {
    const variable = name.replace(/s$/, '') || 'id';
    this.ids.add(variable);
    return `{{${variable}}}`;
  }
}

const kindOf = ({ type }: Schema): unknown => [type].flat()[0];

/**
 * Names of what stands for something else, or takes no words: moments, keys, numbers, addresses of pages, reasons of something that has not
 * happened.
 */
const special = /(At|Id|Key|Number|Sid|Html|Url|Event|Reason|Code|schedule|status|event|sort|provider|source|url)$/;

/** Text that may be anything, and that an example is clearer with. */
const isPlain = (name: string, { type, format, pattern, enum: words }: Schema): boolean =>
  kindOf({ type }) === 'string' && !pattern && !words && !special.test(name) && format === undefined;
