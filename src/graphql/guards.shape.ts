import { type DocumentNode, type FieldNode, Kind, Lexer, type SelectionSetNode, Source, TokenKind, type ValueNode } from 'graphql';
import type { GraphQLLimits } from '../kernel/base/config.js';
import { badRequest, check } from '../kernel/base/errors.js';
import { type Fragments, fragmentOf, fragmentsOf } from '../kernel/model/selections.js';

/** How large a selection is, its fragments written out. */
interface Size {
  depth: number;
  fields: number;
  aliases: number;
}

/** Values nest no deeper than this: arguments, default values. */
const maxValueDepth = 32;

/** Introspection nests more than records do; graphql-js itself bounds how often its lists may repeat. */
const introspectionDepth = 20;

/** Brackets within brackets: more than the limits on fields, introspection and values can come to together. */
const maxBrackets = 120;

const opening = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closing = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/**
 * What graphql-jit marks values by that it has to write as code: it makes code of a document with its literals, and would take a literal
 * with such a mark for code. A variable is no part of that code.
 */
const markOfCode = '__MAGIC_';

/** Refuses a text that the parser, which calls itself for every bracket, or the compiler must not be given. */
export function checkText(text: string, limits: GraphQLLimits): void {
  const lexer = new Lexer(new Source(text));
  let brackets = 0;
  for (let tokens = 0; lexer.advance().kind !== TokenKind.EOF; tokens++) {
    const { kind, value } = lexer.token;
    if (value?.includes(markOfCode)) throw badRequest(`A document must not hold ${markOfCode}: send it as a variable`);
    if (opening.has(kind)) brackets++;
    else if (closing.has(kind)) brackets--;
    within('tokens', tokens + 1, limits.tokens);
    within('nesting of brackets', brackets, maxBrackets);
  }
}

/**
 * Refuses a parsed document that is larger than the limits, before it costs a validation. Looks at every definition
 * once, so that neither duplicates nor fragments of fragments make the look itself dear.
 */
export function checkShape(document: DocumentNode, limits: GraphQLLimits): void {
  const shape = new Shape(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const { depth, fields, aliases } = shape.of(definition.selectionSet);
    within('fields', fields, limits.fields);
    within('aliases', aliases, limits.aliases);
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    within('nesting', depth, limits.depth);
    within('root fields', shape.fieldsOf(definition.selectionSet).length, limits.rootFields);
    within('pairs of fields of one name', shape.overlaps([definition.selectionSet]), limits.overlaps);
    for (const variable of definition.variableDefinitions ?? []) {
      shape.directives += variable.directives?.length ?? 0;
      checkName(variable.variable.name.value, 'variable');
      if (variable.defaultValue) checkValue(variable.defaultValue);
    }
    shape.directives += definition.directives?.length ?? 0;
  }
  within('directives', shape.directives, limits.directives);
}

function within(what: string, count: number, most: number): void {
  check(count <= most, () => badRequest(`The document exceeds the limit of ${most} on ${what}`));
}

/** Names of variables and aliases are no longer than this: they are written into the code of a document for every field below them. */
const maxName = 256;

function checkName(name: string, what: string): void {
  check(name.length <= maxName, () =>
    badRequest(`The document exceeds the limit of ${maxName} on the characters of the name of a ${what}`),
  );
  // An object of ours would take it for its prototype, and lose what is called so.
  const kept = `The document has a ${what} called __proto__: the specification keeps such names for itself`;
  check(name !== '__proto__', () => badRequest(kept));
}

function checkValue(value: ValueNode, depth = 0): void {
  check(depth <= maxValueDepth, () => badRequest(`The document exceeds the limit of ${maxValueDepth} on the nesting of a value`));
  if (value.kind === Kind.LIST) for (const item of value.values) checkValue(item, depth + 1);
  if (value.kind !== Kind.OBJECT) return;
  for (const field of value.fields) {
    // In the code that is made of the document it would be the prototype of the object, which no check of its members finds.
    check(field.name.value !== '__proto__', () => badRequest('The document has a member called __proto__'));
    checkValue(field.value, depth + 1);
  }
}

class Shape {
  directives = 0;
  readonly #fragments: Fragments;
  readonly #sizes = new Map<SelectionSetNode, Size | 'open'>();
  readonly #fields = new Map<SelectionSetNode, FieldNode[]>();

  constructor(document: DocumentNode) {
    this.#fragments = fragmentsOf(document);
  }

  of(set: SelectionSetNode): Size {
    const known = this.#sizes.get(set);
    check(known !== 'open', () => badRequest('A fragment spreads itself'));
    if (known) return known;
    this.#sizes.set(set, 'open');
    const size: Size = { depth: 0, fields: 0, aliases: 0 };
    for (const selection of set.selections) {
      this.directives += selection.directives?.length ?? 0;
      const inner = selection.kind === Kind.FIELD ? this.#field(selection) : this.#spread(selection);
      size.depth = Math.max(size.depth, inner.depth);
      size.fields += inner.fields;
      size.aliases += inner.aliases;
    }
    this.#sizes.set(set, size);
    return size;
  }

  /** The fields of a selection, those in fragments included; only after `of` has found it free of cycles, and not too large. */
  fieldsOf(set: SelectionSetNode): FieldNode[] {
    const known = this.#fields.get(set);
    if (known) return known;
    const fields = set.selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      const fragment = fragmentOf(this.#fragments, selection);
      return fragment ? this.fieldsOf(fragment.selectionSet) : [];
    });
    this.#fields.set(set, fields);
    return fields;
  }

  /**
   * How many pairs of fields answer under one name in the same place, fragments written out: validation compares the fields of
   * each, and all that is below them.
   */
  overlaps(sets: readonly SelectionSetNode[]): number {
    const groups = new Map<string, FieldNode[]>();
    for (const field of sets.flatMap((set) => this.fieldsOf(set))) {
      const name = (field.alias ?? field.name).value;
      const group = groups.get(name);
      if (group) group.push(field);
      else groups.set(name, [field]);
    }
    let pairs = 0;
    for (const group of groups.values()) {
      pairs += (group.length * (group.length - 1)) / 2 + this.overlaps(group.flatMap(({ selectionSet }) => selectionSet ?? []));
    }
    return pairs;
  }

  #field({ name, alias, arguments: args, selectionSet }: FieldNode): Size {
    if (alias) checkName(alias.value, 'alias');
    for (const argument of args ?? []) checkValue(argument.value);
    const inner = selectionSet ? this.of(selectionSet) : { depth: 0, fields: 0, aliases: 0 };
    // The name, never the alias: whoever calls contacts "__schema" gains nothing.
    const isIntrospection = name.value === '__schema' || name.value === '__type';
    const depth = isIntrospection ? Math.max(1, inner.depth + 1 - introspectionDepth) : inner.depth + 1;
    return { depth, fields: inner.fields + 1, aliases: inner.aliases + (alias ? 1 : 0) };
  }

  #spread(selection: Exclude<SelectionSetNode['selections'][number], FieldNode>): Size {
    const fragment = fragmentOf(this.#fragments, selection);
    // A fragment that is not there is for the validation to name. It counts, so that fragments of it cannot double for ever.
    return fragment ? this.of(fragment.selectionSet) : { depth: 0, fields: 1, aliases: 0 };
  }
}
