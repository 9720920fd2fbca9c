/** One message to one person. Addresses have passed the address grammar: no header can be smuggled in. */
export interface Email {
  to: string;
  subject: string;
  text: string;
  html?: string;
  from?: string;
  replyTo?: string;
  /** Where mail servers report that it did not arrive, if not to its sender, and whom they give it to (RFC 5321, section 4.4). */
  envelope?: { from: string; to: string };
  /** Stays the same when the message is sent again, so that a receiver can tell. */
  messageId?: string;
  /** After how many milliseconds it must not go any more: somebody else may send it by then. */
  within?: number;
  /** Asked where it had to wait for its turn: whether it may still go. Where not, `MailLeft` is thrown. */
  mayGo?: () => Promise<boolean>;
  /** More headers, such as List-Unsubscribe. */
  headers?: Readonly<Record<string, string>>;
}

export interface EmailVendor {
  /**
   * Hands the message over; the id under which the vendor knows it, and the address that it came from. Throws `MailRefused` when it is
   * not taken.
   */
  send(email: Email): Promise<{ id: string; from: string }>;
  close(): void;
}

/** The address of a sender as mails name one: `Acme <hello@acme.example>`. */
export const addressOf = (sender: string): string => /<([^<>]*)>\s*$/.exec(sender)?.[1] ?? sender.trim();

/** A mail was not handed over, since it may not go any more. */
export class MailLeft extends Error {}

/** A mail server did not take a message. */
export class MailRefused extends Error {
  constructor(
    message: string,
    /** Whether it never will (SMTP 5xx); else it may later. */
    readonly isPermanent: boolean,
  ) {
    super(message);
  }
}

declare module '../../kernel/context/vendors.js' {
  interface Vendors {
    email: EmailVendor;
  }
}
