import type { Context } from '../../kernel/context/context.js';
import type { CustomField } from './customField.model.js';

/** A custom field, as documents name it: by its key, of the records of a kind. */
export type Place = Pick<CustomField, 'entityType' | 'fieldKey'>;

const types = { contact: 'Contact', deal: 'Deal', company: 'Company' } as const;

/** The type of record that a part of a document is about; undefined where that is not known, so that it may be any. */
export type About = string | undefined;

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The types of nodes whose conditions may be about the contact, whatever the event is of. */
const deciding: unknown[] = ['condition', 'branch', 'goal'];

/** Finds where workflows and automations name a custom field: in conditions, in merge fields, and in actions that set it. */
export class Naming {
  readonly #own: string;
  /** `customFields.tier` as a name or inside of a text, with what it is said to be of: `contact.`, `record.`, `changes.` or nothing. */
  readonly #path: RegExp;

  constructor(
    private readonly ctx: Context,
    private readonly place: Place,
  ) {
    this.#own = types[place.entityType];
    // The grammar of keys has no sign that means something in an expression.
    const path = `(?:(contact|deal|company|record|changes)\\.)?customFields\\.${place.fieldKey}`;
    this.#path = new RegExp(`(?<![A-Za-z0-9_.])${path}(?![A-Za-z0-9_-])`, 'g');
  }

  /** The type of record that an event tells of. */
  typeOf(event: string): About {
    return this.ctx.app.registry.events.get(event)?.of.type;
  }

  /** Whether a document, or a part of one, names the field. */
  isIn(node: unknown, about: About): boolean {
    if (typeof node === 'string') return this.#isInText(node, about);
    if (Array.isArray(node)) return node.some((item) => this.isIn(item, about));
    if (!isObject(node)) return false;
    const { type, config } = node;
    // What it sets is of the record that it names; the texts in its value are of the run, as everywhere.
    if (type === 'update_field' && isObject(config)) return this.#isSetBy(config) || this.isIn(config.value, about);
    const within = this.#within(node, about);
    if (this.#isOwn(within) && this.#isMember(node)) return true;
    return Object.entries(node).some(([name, value]) => this.#isInText(name, within) || this.isIn(value, within));
  }

  #isOwn(about: About): boolean {
    return about === undefined || about === this.#own;
  }

  #holds(values: unknown): boolean {
    return isObject(values) && Object.hasOwn(values, this.place.fieldKey);
  }

  /** Whether all custom fields are compared or set at once, this one among them. */
  #isMember({ field, value, customFields }: Json): boolean {
    return this.#holds(customFields) || (field === 'customFields' && this.#holds(value));
  }

  #isInText(text: string, about: About): boolean {
    return [...text.matchAll(this.#path)].some(([, of]) =>
      of !== undefined && Object.hasOwn(types, of) ? of === this.place.entityType : this.#isOwn(about),
    );
  }

  #isSetBy({ entity, field, fieldName, fieldKey, value }: Json): boolean {
    if ((entity ?? 'contact') !== this.place.entityType) return false;
    // A draft keeps the fields of an action under the names by which they came.
    const set = field ?? fieldName ?? fieldKey;
    return set === `customFields.${this.place.fieldKey}` || (set === 'customFields' && this.#holds(value));
  }

  /**
   * What the parts of an object are about: the record of the event that it names with its conditions, the contact where its config says
   * so, else what the object itself is about.
   */
  #within({ type, event, conditions, config }: Json, about: About): About {
    if (typeof event === 'string' && conditions !== undefined) return this.typeOf(event);
    return deciding.includes(type) && isObject(config) && config.of === 'contact' ? types.contact : about;
  }
}
