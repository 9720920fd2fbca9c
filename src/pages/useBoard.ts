import { useMutation } from '@apollo/client/react';
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type CardFragment, MoveDealDocument } from '../generated/client/pages.js';
import type { Place } from './drag.js';
import { usePending } from './usePending.js';
import { useReason } from './useReason.js';

/** A board: the cards of each stage in their order. */
export type Columns = ReadonlyMap<string, CardFragment[]>;

/** Takes the cards of a page of a stage as they are now. */
export type Show = (stageId: string, page: number, cards: CardFragment[]) => void;

export const cardOf = (columns: Columns, id: string) => [...columns.values()].flat().find((card) => card.id === id);

/** The board with a card somewhere else; without one it is as it is. */
export function moved(columns: Columns, card: CardFragment | undefined, { stageId, index }: Place): Columns {
  if (!card) return columns;
  return new Map(
    [...columns].map(([stage, cards]) => {
      // A column that it neither leaves nor comes to stays the same object, and is not drawn again.
      const others = cards.some(({ id }) => id === card.id) ? cards.filter(({ id }) => id !== card.id) : cards;
      return [stage, stage === stageId ? others.toSpliced(index, 0, { ...card, stageId }) : others];
    }),
  );
}

/** The card that a place is behind, the nearest one that counts: what the server is told. */
const before = (columns: Columns, id: string, { stageId, index }: Place, counts = (_id: string) => true): string | null => {
  const others = (columns.get(stageId) ?? []).filter((card) => card.id !== id);
  return others.slice(0, index).findLast((card) => counts(card.id))?.id ?? null;
};

const placeOf = (columns: Columns, id: string): Place | undefined =>
  [...columns].flatMap(([stageId, cards]) => cards.flatMap((card, index) => (card.id === id ? [{ stageId, index }] : [])))[0];

const isSame = (one: Place | undefined, other: Place) => one?.stageId === other.stageId && one.index === other.index;

/** The cards of a stage; what goes from one page to the next may be in both for a moment. */
const joined = (pages: readonly CardFragment[][]) => [...new Map(pages.flat().map((card) => [card.id, card])).values()];

/** A stage: the pages that came, and their cards. */
interface Shown {
  pages: CardFragment[][];
  cards: CardFragment[];
}
const none: CardFragment[] = [];

/** The cards of a board as they are now, by the pages that came, and as they will be once what was moved here is kept. */
export function useBoard(stages: readonly { id: string }[]) {
  const [came, setCame] = useState<ReadonlyMap<string, Shown>>(new Map());
  const show = useCallback<Show>((stageId, page, cards) => {
    setCame((all) => {
      const pages = Object.assign(all.get(stageId)?.pages.slice() ?? [], { [page - 1]: cards });
      return new Map(all).set(stageId, { pages, cards: joined(pages) });
    });
  }, []);
  const [move] = useMutation(MoveDealDocument);
  const { send, ...reason } = useReason();
  const kept = useMemo<Columns>(() => new Map(stages.map(({ id }) => [id, came.get(id)?.cards ?? none])), [came, stages]);
  const { pending, isKept, ...changes } = usePending<{ card: CardFragment; place: Place }>((id, { place }) =>
    isSame(placeOf(kept, id), place),
  );
  // Each column is told by itself: for a moment a card may have left one and not be in the other.
  const columns = useMemo(
    () => [...pending.values()].reduce((all, { value: { card, place } }) => moved(all, cardOf(kept, card.id) ?? card, place), kept),
    [kept, pending],
  );
  const latest = useRef({ columns, kept });
  useLayoutEffect(() => {
    latest.current = { columns, kept };
  });
  /** Whether it stays where it was put, or is put elsewhere meanwhile. */
  async function put(id: string, place: Place): Promise<boolean> {
    const card = cardOf(columns, id);
    if (!card || isSame(placeOf(columns, id), place)) return true;
    const { stageId } = place;
    const sending = (isNewest: () => boolean) => {
      const { columns: now, kept: live } = latest.current;
      // A card that is only shown there is not in the stage for the server, which would refuse it as a neighbour.
      const isThere = (other: string) => isKept(other) || Boolean(live.get(stageId)?.some((one) => one.id === other));
      // While it waited others may have come before it or gone.
      const to = { id, stageId, afterId: before(now, id, place, isThere) };
      return send(card.title, (lostReason) => move({ variables: { ...to, lostReason } }), isNewest);
    };
    return changes.put(id, { card, place }, sending, before(columns, id, place));
  }
  return { columns, show, put, ...reason };
}
