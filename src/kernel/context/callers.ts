import type { AppError } from '../base/errors.js';
import type { App, Context, Principal } from './context.js';

/** What a request brings by which its caller may be known, and from where it comes. */
export interface Credentials {
  authorization?: string;
  cookie?: string;
  ip: string;
  /** They came with a socket, which has no answer that could renew the cookie. */
  isSocket?: boolean;
}

/** Who calls, or why the credentials are not taken. */
export interface Identified {
  principal: Principal | null;
  refusal?: AppError;
  /** A session that slid on: its cookie is renewed. */
  renewed?: { token: string; expiresAt: Date };
}

/** Finds out who calls: `modules/auth` does. */
export type Identify = (app: App, credentials: Credentials) => Promise<Identified>;

/** A caller who stays connected, and from where. */
export interface Staying {
  principal: Principal;
  ip: string;
}

/** Whether callers who stay connected still may, as `modules/auth` finds out: each one's principal as it is now, or why it has ended. */
export type Recheck = (app: App, staying: readonly Staying[]) => Promise<(Principal | AppError)[]>;

/**
 * For an answer that is read as its client takes it, called once where it begins: what it answers is called before each part is read, and
 * throws once the caller's credentials have ended, or their rights are no longer those of the beginning. `modules/auth` finds that out.
 */
export type WhileAllowed = (ctx: Context) => () => Promise<void>;
