import { AppError, check } from '../kernel/base/errors.js';

/** The live subscriptions of one caller: what they cost in all, and how many there are of each group. */
interface Held {
  cost: number;
  readonly groups: Map<string, number>;
}

/**
 * What live subscriptions may cost at an event, all of one caller's together, over all its sockets and streams of this
 * process. Those of one group are executed once, and so cost once.
 */
export class LiveCosts {
  readonly #held = new Map<string, Held>();

  constructor(private readonly most: number) {}

  /** Throws 400 where it would be too much. Returns the way to give it back, to be called once. */
  take(caller: string, group: string, cost: number): () => void {
    const held = this.#held.get(caller) ?? { cost: 0, groups: new Map<string, number>() };
    const members = held.groups.get(group) ?? 0;
    if (members === 0) {
      this.#check(held.cost + cost);
      held.cost += cost;
    }
    held.groups.set(group, members + 1);
    this.#held.set(caller, held);
    return () => {
      const left = held.groups.get(group)! - 1;
      if (left > 0) return void held.groups.set(group, left);
      held.groups.delete(group);
      held.cost -= cost;
      if (held.groups.size === 0) this.#held.delete(caller);
    };
  }

  #check(cost: number): void {
    const { most } = this;
    const told = `The live subscriptions of this caller may read ${cost} records at an event; at most ${most} are allowed`;
    const more = { limit: 'liveCost', setting: 'GRAPHQL_MAX_LIVE_COST', most };
    check(cost <= most, () => new AppError('invalid_request', `${told}: end others first, or select less`, { more }));
  }
}
