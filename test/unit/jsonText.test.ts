import { describe, expect, it } from '@jest/globals';
import { excerpt, jsonSize } from '../../src/kernel/base/jsonText.js';
import fc from '../support/property.js';

describe('the beginning of a value', () => {
  it('is all of it where it is short enough', () => {
    const property = fc.property(fc.jsonValue(), (value) => expect(excerpt(value, jsonSize(value))).toBe(value));
    fc.assert(property);
  });

  it('is about as long as asked for, whatever the value is made of', () => {
    const property = fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(100), (value, most) => {
      // What stands for the rest takes a few characters in each list and object that is cut.
      expect(jsonSize(excerpt(value, most))).toBeLessThanOrEqual(most + 12 * 7);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it.each([
    ['x'.repeat(10), 10, 'x'.repeat(10)],
    ['x'.repeat(11), 10, `${'x'.repeat(10)}…`],
    ['😀'.repeat(11), 10, `${'😀'.repeat(10)}…`],
    [['one', 'two', 'three', 'four'], 12, ['one', 'two', '…']],
    [{ title: 'x'.repeat(30), more: 1 }, 20, { title: `${'x'.repeat(11)}…`, '…': '…' }],
    [{ ['n'.repeat(30)]: 1 }, 20, { '…': '…' }],
  ])('cuts %j at %i', (value, most, begins) => {
    expect(excerpt(value, most)).toEqual(begins);
  });
});
