import { type PointerEvent, useRef, useState } from 'react';

/** Where a card is held or put: its column, and how many cards stand before it there. */
export interface Place {
  stageId: string;
  index: number;
}

/** A card that is held. */
export interface Held {
  id: string;
  at: Place;
  x: number;
  y: number;
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

function scrollNear(x: number): void {
  const board = document.querySelector('.board');
  if (!board) return;
  const { left, right } = board.getBoundingClientRect();
  if (x < left + edge) board.scrollBy({ left: -12 });
  if (x > right - edge) board.scrollBy({ left: 12 });
}

/** Cards that are dragged with a mouse, a pen or a finger; by a finger at their grip, so that the rest of a card scrolls. */
export function useDrag(drop: (id: string, to: Place) => void) {
  const [held, setHeld] = useState<Held>();
  const start = useRef<{ id: string; x: number; y: number } | undefined>(undefined);
  const down = (id: string) => (event: PointerEvent<HTMLElement>) => {
    const isGrip = (event.target as HTMLElement).closest('[data-grip]');
    if (event.button !== 0 || (event.pointerType === 'touch' && !isGrip) || (event.target as HTMLElement).closest('a')) return;
    start.current = { id, x: event.clientX, y: event.clientY };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = ({ clientX: x, clientY: y }: PointerEvent) => {
    const { current } = start;
    if (!current || (!held && Math.hypot(x - current.x, y - current.y) < slack)) return;
    scrollNear(x);
    const at = placeAt(x, y, current.id) ?? held?.at;
    if (at) setHeld({ id: current.id, at, x: x - current.x, y: y - current.y });
  };
  const end = (isDropped: boolean) => () => {
    if (held && isDropped) drop(held.id, held.at);
    start.current = undefined;
    setHeld(undefined);
  };
  const handlers = (id: string) => ({ onPointerDown: down(id), onPointerMove: move, onPointerUp: end(true), onPointerCancel: end(false) });
  return { held, handlers };
}
