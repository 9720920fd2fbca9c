import { type ChangeEvent, type KeyboardEvent, useEffect, useState } from 'react';
import type { CardFragment } from '../generated/client/pages.js';
import type { Place } from './drag.js';
import type { Columns } from './useBoard.js';

const steps: Record<string, [number, number]> = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** Whether a key is pressed as the browser or the system takes it for itself. */
export const isShortcut = ({ altKey, ctrlKey, metaKey }: Pick<KeyboardEvent, 'altKey' | 'ctrlKey' | 'metaKey'>) =>
  altKey || ctrlKey || metaKey;

const focus = (id: string | undefined) => id && document.querySelector<HTMLElement>(`[data-deal="${id}"]`)?.focus();

/** The place one step away that a card can be put at; none at the edge of the board. */
function placeBeside(columns: Columns, id: string, [across, down]: [number, number]): Place | undefined {
  const stages = [...columns];
  const column = stages.findIndex(([, cards]) => cards.some((card) => card.id === id));
  const to = stages[column + across];
  if (!to) return undefined;
  const row = stages[column]![1].findIndex((card) => card.id === id);
  const last = to[1].length - (across === 0 ? 1 : 0);
  const index = across === 0 ? row + down : Math.min(row, last);
  return index >= 0 && index <= last ? { stageId: to[0], index } : undefined;
}

/** The card one step away; empty columns are passed over. */
function cardBeside(columns: Columns, id: string, [across, down]: [number, number]): string | undefined {
  const stages = [...columns.values()];
  const column = stages.findIndex((cards) => cards.some((card) => card.id === id));
  const row = stages[column]?.findIndex((card) => card.id === id) ?? 0;
  if (across === 0) return stages[column]?.[row + down]?.id;
  const way = across > 0 ? stages.slice(column + 1) : stages.slice(0, column).reverse();
  const cards = way.find(({ length }) => length > 0);
  return cards?.[Math.min(row, cards.length - 1)]?.id;
}

/**
 * Arrows go to the next card that way; with Shift they take the card along, and go back with it where it may not stay. Enter opens its
 * contact. A stage that is chosen in a card takes it there, too: not everybody can drag, or has keys.
 */
export function useKeys(columns: Columns, put: (card: CardFragment, to: Place) => Promise<boolean>) {
  // A card that goes to another column is another element there. Each time is another object: the next may come before React has drawn.
  const [carried, carry] = useState<{ id: string }>();
  useEffect(() => {
    if (carried) focus(carried.id);
  }, [carried]);
  const take = (id: string, place: Place | undefined) => {
    const card = [...columns.values()].flat().find((one) => one.id === id);
    if (!place || !card) return;
    void put(card, place).then((isKept) => isKept || carry({ id }));
    carry({ id });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const element = event.target as HTMLElement;
    const id = element.dataset.deal;
    if (!id || isShortcut(event)) return;
    if (event.key === 'Enter') return element.querySelector('a')?.click();
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    if (!event.shiftKey) return focus(cardBeside(columns, id, step));
    take(id, placeBeside(columns, id, step));
  };
  const onChange = ({ target }: ChangeEvent<HTMLElement>) => {
    const id = target.closest<HTMLElement>('[data-deal]')?.dataset.deal;
    if (id) take(id, { stageId: (target as HTMLSelectElement).value, index: 0 });
  };
  return { onKeyDown, onChange };
}
