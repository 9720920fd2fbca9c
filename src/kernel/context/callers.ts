import type { AppError } from '../base/errors.js';
import type { App, Principal } from './context.js';

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
