import { useMutation, useSubscription } from '@apollo/client/react';
import { useEffect, useMemo, useState } from 'react';
import { BoardDocument, type CardFragment, MoveDealDocument } from '../generated/client/pages.js';
import type { Place } from './drag.js';

/** A board: the cards of each stage in their order. */
export type Columns = ReadonlyMap<string, CardFragment[]>;

function columnsOf(stages: readonly { id: string }[], cards: readonly CardFragment[]): Columns {
  return new Map(stages.map(({ id }) => [id, cards.filter(({ stageId }) => stageId === id)]));
}

/** The board with a card somewhere else. */
export function moved(columns: Columns, id: string, { stageId, index }: Place): Columns {
  const card = [...columns.values()].flat().find((one) => one.id === id);
  if (!card) return columns;
  return new Map(
    [...columns].map(([stage, cards]) => {
      const others = cards.filter((one) => one.id !== id);
      return [stage, stage === stageId ? others.toSpliced(index, 0, { ...card, stageId }) : others];
    }),
  );
}

/** The card that a place is behind: what the server is told. */
const before = (columns: Columns, id: string, { stageId, index }: Place): string | null =>
  (columns.get(stageId) ?? []).filter((card) => card.id !== id)[index - 1]?.id ?? null;

const placeOf = (columns: Columns, id: string): Place | undefined =>
  [...columns].flatMap(([stageId, cards]) => cards.flatMap((card, index) => (card.id === id ? [{ stageId, index }] : [])))[0];

/** A pipeline's board as it is now, and as it will be once what was moved here is kept. */
export function useBoard(pipelineId: string, stages: readonly { id: string }[]) {
  const { data, error } = useSubscription(BoardDocument, { variables: { pipelineId }, fetchPolicy: 'no-cache' });
  const [move, { error: refused }] = useMutation(MoveDealDocument);
  const [pending, setPending] = useState<ReadonlyMap<string, Place>>(new Map());
  const rows = data?.live.deals.rows;
  const kept = useMemo(
    () =>
      columnsOf(
        stages,
        (rows ?? []).map(({ node }) => node as CardFragment),
      ),
    [rows, stages],
  );
  const columns = useMemo(() => [...pending].reduce((all, [id, place]) => moved(all, id, place), kept), [kept, pending]);
  const forget = (id: string, place?: Place) =>
    setPending((all) => (place && all.get(id) !== place ? all : new Map([...all].filter(([other]) => other !== id))));
  // What arrived where it was put is no longer pending.
  useEffect(() => {
    for (const [id, { stageId, index }] of pending) {
      const now = placeOf(kept, id);
      if (now?.stageId === stageId && now.index === index) forget(id);
    }
  }, [kept, pending]);
  async function put(id: string, place: Place) {
    const from = placeOf(columns, id);
    if (!from || (from.stageId === place.stageId && from.index === place.index)) return;
    const afterId = before(columns, id, place);
    setPending((all) => new Map([...all, [id, place]]));
    await move({ variables: { id, stageId: place.stageId, afterId } }).catch(() => forget(id, place));
    // Somebody else may have put it elsewhere meanwhile: what is live is right.
    setTimeout(() => forget(id, place), 2000);
  }
  return { columns, put, error: error ?? refused, summary: data?.live.deals.summary.byStage, totalCount: data?.live.deals.totalCount };
}
