import { expect, test } from '@jest/globals';
import { Kind, parse } from 'graphql';
import { countFields, fieldsIn, fragmentsOf } from '../../src/kernel/model/selections.js';

/** The names of the fields of the first operation of a document. */
function namesIn(text: string): string[] {
  const document = parse(text);
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION)!;
  return [...fieldsIn(fragmentsOf(document), operation.selectionSet)].map(({ name }) => name.value);
}

test('the fields of a selection come in order, those of fragments in their places, and none of one that is not there', () => {
  const fragments = 'fragment F on Query { b ...G e } fragment G on Query { c { x } d }';
  expect(namesIn(`query { a ...F ...Nowhere ... { f ... on Query { g } } ...G } ${fragments}`)).toEqual([...'abcdefgcd']);
});

test('the fields of a document are counted with its fragments written out, in all its operations', () => {
  const doubled = Array.from({ length: 20 }, (_, n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`).join(' ');
  expect(countFields(parse(`{ a { ...F0 ... { b } } } query Other { c } ${doubled} fragment F20 on Query { d { e } }`))).toBe(3 + 2 ** 21);
});
