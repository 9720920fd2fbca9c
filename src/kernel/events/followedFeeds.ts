import type { StoredEvent } from './feedStore.js';

/** Somebody in this process who hands on the events of a feed. */
export interface Follower {
  /** These follow each other in the feed, and have their places. */
  give(events: readonly StoredEvent[]): void;
}

/** The feeds that somebody in this process follows: whoever gives their events their places brings them along, before the wake. */
export class FollowedFeeds {
  readonly #followers = new Map<string, Follower>();

  /** Returns the way to stop. */
  follow(account: string, follower: Follower): () => void {
    this.#followers.set(account, follower);
    return () => {
      if (this.#followers.get(account) === follower) this.#followers.delete(account);
    };
  }

  has(account: string): boolean {
    return this.#followers.has(account);
  }

  give(account: string, events: readonly StoredEvent[]): void {
    this.#followers.get(account)?.give(events);
  }
}
