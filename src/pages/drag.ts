import { type PointerEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';

/** Where a card is held or put: its column, and how many cards stand before it there. */
export interface Place {
  stageId: string;
  index: number;
}

/** A card that is held. */
export interface Held {
  id: string;
  at: Place;
}

/** How far a pointer moves before a press is a drag, in pixels. */
const slack = 5;
/** How near to the edge of the board it scrolls, in pixels. */
const edge = 60;

/** The column under a point, and the place in it, as the cards other than the held one stand on the screen. */
function placeAt(x: number, y: number, id: string): Place | undefined {
  const columns = [...document.querySelectorAll<HTMLElement>('[data-stage]')];
  const column = columns.find((one) => {
    const { left, right } = one.getBoundingClientRect();
    return x >= left && x <= right;
  });
  if (!column) return undefined;
  const cards = [...column.querySelectorAll<HTMLElement>('[data-deal]')].filter(({ dataset }) => dataset.deal !== id);
  const index = cards.filter((card) => {
    const { top, height } = card.getBoundingClientRect();
    return y > top + height / 2;
  }).length;
  return { stageId: column.dataset.stage!, index };
}

/** How far to scroll where a pointer is near one of two edges. */
const pull = (at: number, from: number, to: number) => (at < from + edge ? -12 : at > to - edge ? 12 : 0);

function scrollNear(x: number, y: number): void {
  const board = document.querySelector('.board');
  if (!board) return;
  const { left, right, top, bottom } = board.getBoundingClientRect();
  board.scrollBy(pull(x, left, right), pull(y, top, bottom));
}

/** Cards that are dragged with a mouse, a pen or a finger; by a finger at their grip, so that the rest of a card scrolls. */
export function useDrag(drop: (id: string, to: Place) => void) {
  const [held, setHeld] = useState<Held>();
  const drag = useRef<{ id: string; x: number; y: number; at?: Place } | undefined>(undefined);
  const latest = useRef(drop);
  useLayoutEffect(() => {
    latest.current = drop;
  });
  // The same for good, so that only columns are drawn again in which something moves. The board takes the pointer and not the card,
  // which is another element in another column.
  const { board, card } = useMemo(() => {
    const move = ({ clientX: x, clientY: y }: PointerEvent) => {
      const { current } = drag;
      if (!current || (!current.at && Math.hypot(x - current.x, y - current.y) < slack)) return;
      scrollNear(x, y);
      const at = placeAt(x, y, current.id) ?? current.at;
      if (!at || (at.stageId === current.at?.stageId && at.index === current.at.index)) return;
      current.at = at;
      setHeld({ id: current.id, at });
    };
    const end = (isDropped: boolean) => () => {
      const { current } = drag;
      drag.current = undefined;
      setHeld(undefined);
      if (current?.at && isDropped) latest.current(current.id, current.at);
    };
    const down = (id: string) => (event: PointerEvent<HTMLElement>) => {
      const isGrip = (event.target as HTMLElement).closest('[data-grip]');
      const isOther = (event.target as HTMLElement).closest('a, select');
      if (event.button !== 0 || (event.pointerType === 'touch' && !isGrip) || isOther) return;
      drag.current = { id, x: event.clientX, y: event.clientY };
      event.currentTarget.closest('.board')?.setPointerCapture(event.pointerId);
    };
    return {
      board: { onPointerMove: move, onPointerUp: end(true), onPointerCancel: end(false) },
      card: (id: string) => ({ onPointerDown: down(id) }),
    };
  }, []);
  return { held, board, card };
}
