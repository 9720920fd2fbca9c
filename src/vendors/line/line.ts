/**
 * The vendor of lines: real phone numbers, each in the hands of one agent. Its API is REST with JSON bodies, under a base address:
 *
 * - Every request bears `Authorization: Bearer <key>`. 401 and 403 mean that the key is not, or no longer, one of an account.
 * - `GET /v1/account` → `{ "id", "cursor" }`: whose key it is, and the cursor behind the newest reply.
 * - `GET /v1/lines` → `{ "lines": [{ "id", "number", "name" }] }`: what the key may use.
 * - `POST /v1/lines/{id}/messages` with `Idempotency-Key` and `{ "to", "body" }` → 201 `{ "id" }`. The same key on the same line is
 *   the same message: it is sent once, and answered again. 404: no such line. 422 `{ "code" }`: refused for good, with
 *   `recipient_opted_out` or `landline` where that is why. 429 with `Retry-After`: the line's pace, about 15 messages in 10 minutes.
 * - `GET /v1/replies?after=<cursor>&limit=100` → `{ "replies": [{ "id", "cursor", "line", "from", "to", "body" }], "more" }`: what
 *   came in on any line of the account after a cursor, the oldest first. Ids are unique over all accounts.
 *
 * Whatever else it answers is a fault of the vendor, of which nobody knows whether the message was taken.
 */
export interface LineVendor {
  /** Whose key it is. Throws `LineRefused`: key_rejected or unavailable. */
  account(key: string): Promise<LineAccount>;
  /** The lines that the key may use; at most a thousand. Throws as `account` does. */
  lines(key: string): Promise<VendorLineRecord[]>;
  /** Hands a message over; the id under which the vendor knows it. Throws `LineRefused` or `LineUnconfirmed`. */
  send(key: string, message: LineMessage): Promise<{ id: string }>;
  /** What came in after a cursor, the oldest first. Throws as `account` does. */
  replies(key: string, after: string): Promise<{ replies: LineReply[]; more: boolean }>;
  close(): void;
}

export interface LineAccount {
  id: string;
  cursor: string;
}

/** A line as the vendor lists it; its number is E.164. */
export interface VendorLineRecord {
  id: string;
  number: string;
  name: string;
}

export interface LineMessage {
  /** Under one operation key a line sends once. */
  operationKey: string;
  lineId: string;
  to: string;
  body: string;
}

export interface LineReply {
  id: string;
  /** Where the list goes on behind it. */
  cursor: string;
  line: string;
  from: string;
  to: string;
  body: string;
}

export type LineRefusal =
  | ('key_rejected' | 'line_not_found' | 'throttled' | 'unavailable')
  | ('recipient_opted_out' | 'landline' | 'refused');

/** The vendor did not do what it was asked. */
export class LineRefused extends Error {
  constructor(
    readonly reason: LineRefusal,
    message: string,
    /** Seconds after which it may be asked again, where the vendor says. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** Nobody knows whether the vendor took the message. Under the same operation key it may be handed over again. */
export class LineUnconfirmed extends Error {}

declare module '../../kernel/context/vendors.js' {
  interface Vendors {
    line: LineVendor;
  }
}
