import { check, invalidField } from '../kernel/base/errors.js';
import { maxPageSize } from '../kernel/model/connection.js';
import type { ClientStates } from './live.js';
import { mostLists } from './live.types.js';

const row = /^([\w.:-]{1,64}) ([\w-]{1,16})$/;
/** The most bytes of JSON that the records take of which a client says that it has them: each in quotes and with a comma. */
export const mostStateBytes = mostLists * maxPageSize * (64 + 1 + 16 + 3);

/** What a client says that it has of a live query. Throws 400 naming `after` for what no live query ever sent. */
export function clientStatesIn(after: unknown): ClientStates {
  const lists = (after ?? []) as { list: string; rows: string[] }[];
  check(lists.length <= mostLists, () => invalidField('after', 'too_many', `must name at most ${mostLists} lists`));
  return new Map(lists.map(({ list, rows }, i) => [list, clientStateOf(rows, `after[${i}].rows`)]));
}

function clientStateOf(rows: string[], field: string): ReadonlyMap<string, string> {
  check(rows.length <= maxPageSize, () => invalidField(field, 'too_many', `must have at most ${maxPageSize} records`));
  return new Map(
    rows.map((text): [string, string] => {
      const [, id, version] = row.exec(text) ?? [];
      check(id && version, () => invalidField(field, 'invalid_format', 'must be ids, each with a space and its version'));
      return [id, version];
    }),
  );
}
