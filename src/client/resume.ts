import type { Client } from 'graphql-ws';
import { applyLive, haveOf, type LiveChanges, type LiveEdge, type LiveRow } from './live.js';

type Lists = Record<string, LiveRow<unknown>[]>;
type Data = Record<string, unknown>;

const isLive = (value: unknown): value is LiveChanges<unknown> =>
  typeof value === 'object' && value !== null && 'isWhole' in value && 'rows' in value && 'removed' in value;

/** The whole lists of a live query after a message, in the shape of its first one. */
function whole(live: Data, lists: Lists): Data {
  const entries = Object.entries(live).map(([name, list]) => {
    if (!isLive(list)) return [name, list];
    lists[name] = applyLive(lists[name] ?? [], list);
    const type =
      (list.rows[0] as { __typename?: string } | undefined)?.__typename ??
      (list as { __typename?: string }).__typename?.replace(/LivePage$/, 'LiveEdge');
    const rows = lists[name].map(({ id, version, node }, index): LiveEdge<unknown> => {
      const edge: LiveEdge<unknown> = { recordId: id, index, change: 'added', version, node };
      return type ? Object.assign(edge, { __typename: type }) : edge;
    });
    return [name, { ...list, isWhole: true, removed: [], rows }];
  });
  return Object.fromEntries(entries);
}

/**
 * A client of graphql-ws whose subscriptions go on where they were when the connection comes back, and lose nothing. Declare
 * `$after` and pass it on: `subscription ($after: ID) { dealEvents(after: $after) { id … } }`, and for live queries
 * `subscription ($after: [LiveHave!]) { live(after: $after) { deals { isWhole removed rows { recordId index change version node { … } } } } }`:
 * each result of these is the whole page, the changes put in.
 */
export function resuming(client: Client): Client {
  const subscribe: Client['subscribe'] = (payload, sink) => {
    // graphql-ws sends this very object again after a cut.
    const own = { ...payload, variables: { ...payload.variables } as Data };
    const lists: Lists = {};
    const next: typeof sink.next = (result) => {
      const [[name, value] = ['', undefined]] = Object.entries((result.data ?? {}) as Data);
      const data = value as Data | null | undefined;
      if (typeof data?.id === 'string') own.variables.after = data.id;
      if (!data || !Object.values(data).some(isLive)) return sink.next(result);
      const shown = whole(data, lists);
      own.variables.after = haveOf(lists);
      sink.next({ ...result, data: { [name]: shown } as typeof result.data });
    };
    return client.subscribe(own, { next, error: (error) => sink.error(error), complete: () => sink.complete() });
  };
  return { ...client, subscribe };
}
