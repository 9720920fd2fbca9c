import { excerpt } from '../base/jsonText.js';
import type { ChangedRecord, ComparableField } from './comparableFields.js';
import { folded, keyOf, orderedForm } from './valueForms.js';

/**
 * What conditions see of one field of one record. Each form in which they compare its values is made for the first that asks for it, and
 * kept for the others: two hundred conditions may compare the same 64 KB, each of them with two hundred values.
 */
export class FieldView {
  /** Its values; none where there is none. */
  readonly all: readonly unknown[];
  #keys?: readonly string[];
  #folded?: readonly string[];
  #ordered?: readonly unknown[];
  #held?: ReadonlySet<unknown>;
  #told?: unknown;

  constructor(
    private readonly field: ComparableField,
    private readonly record: ChangedRecord,
    private readonly longest: number,
  ) {
    this.all = field.values(record);
  }

  /** Its values as texts that are the same for equal values. */
  get keys(): readonly string[] {
    this.#keys ??= this.all.map((value) => keyOf(this.field.kind, value));
    return this.#keys;
  }

  /** Its values as texts in lower case. */
  get folded(): readonly string[] {
    this.#folded ??= this.all.map(folded);
    return this.#folded;
  }

  /** Its values in the form by which they are put in order. */
  get ordered(): readonly unknown[] {
    this.#ordered ??= this.all.map((value) => orderedForm(this.field.kind, value));
    return this.#ordered;
  }

  /** What a custom field holds: the items of a list, or what is none. */
  get held(): ReadonlySet<unknown> {
    this.#held ??= new Set(this.field.held?.(this.record));
    return this.#held;
  }

  /** What is told of its values: of what is long the beginning; null where there is none. */
  get told(): unknown {
    this.#told ??= this.#excerpt();
    return this.#told;
  }

  #excerpt(): unknown {
    const { kind, isMany } = this.field;
    const shown = kind === 'numeric' || kind === 'integer' ? this.all.map(Number) : this.all;
    return excerpt(isMany ? shown : (shown[0] ?? null), this.longest);
  }
}

/** A record as the conditions of one evaluation see it: each field is read once, however many of them ask for it. */
export class RecordView {
  readonly #fields = new Map<string, FieldView>();

  /** `longest`: the characters that are told of each value. */
  constructor(
    readonly record: ChangedRecord,
    readonly longest: number,
  ) {}

  of(field: ComparableField): FieldView {
    // What a custom field is compared with says its kind, so that one name may have two.
    const name = `${field.kind} ${field.name}`;
    const view = this.#fields.get(name) ?? new FieldView(field, this.record, this.longest);
    this.#fields.set(name, view);
    return view;
  }
}
