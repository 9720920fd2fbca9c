import { validate, version } from 'uuid';
import { ascendingIds } from '../../src/kernel/base/clock.js';
import { idOf, idsAmong } from '../../src/kernel/context/rows.js';

const times = (n: number, make: () => string) => Array.from({ length: n }, make);
const msecsOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

test('ids are UUIDs of version 7 that tell the millisecond', () => {
  const at = Date.UTC(2026, 1, 28, 12);
  const id = ascendingIds(() => at)();
  expect(validate(id)).toBe(true);
  expect(version(id)).toBe(7);
  expect(msecsOf(id)).toBe(at);
});

test('ids of one millisecond, and of a clock that goes back, come after those before them', () => {
  const clock = [100, 100, 100, 99, 42, 100, 101, 101];
  const ids = ascendingIds(() => clock.shift()!);
  const made = times(8, ids);
  expect(made).toEqual([...made].sort());
  expect(made.map(msecsOf)).toEqual([100, 100, 100, 100, 100, 100, 101, 101]);
});

test('more ids than random bytes are asked for at once have random ends of their own', () => {
  const ends = times(2000, ascendingIds(Date.now)).map((id) => id.slice(-10));
  expect(new Set(ends).size).toBe(2000);
});

test('two processes make different ids in the same millisecond', () => {
  const [one, other] = [ascendingIds(() => 7), ascendingIds(() => 7)];
  const made = [...times(500, one), ...times(500, other)];
  expect(new Set(made).size).toBe(1000);
});

test('of what a client gives those can be ids that are UUIDs, each once, however it is spelled', () => {
  const id = '01a203c7-84ea-7517-9bbe-8a3176038ded';
  expect(idsAmong([id.toUpperCase(), 'none', null, 7, id])).toEqual([id]);
  expect(idOf(id.toUpperCase())).toBe(id);
});
