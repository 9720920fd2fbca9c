import { expect, it } from '@jest/globals';
import { defined, withChanges } from '../../src/kernel/base/objects.js';

const whole = { name: 'Ada', age: 36 as number | null, isActive: true };

it('an object with members of another is what the two are put together', () => {
  const changes = { age: undefined, isActive: false, added: [1] };
  expect(withChanges(whole, changes)).toStrictEqual({ ...whole, ...changes });
  expect(Object.keys(withChanges(whole, changes))).toEqual(Object.keys({ ...whole, ...changes }));
});

it('the object that is changed stays as it was', () => {
  withChanges(whole, { name: 'Grace' });
  expect(whole.name).toBe('Ada');
});

it('what is given of an input is all but the undefined, null and false among it', () => {
  expect(defined({ ...whole, age: null, isActive: false, email: undefined })).toStrictEqual({ name: 'Ada', age: null, isActive: false });
});
