/** One message to one person. Addresses have passed the address grammar: no header can be smuggled in. */
export interface Email {
  to: string;
  subject: string;
  text: string;
  html?: string;
  from?: string;
  replyTo?: string;
  /** Stays the same when the message is sent again, so that a receiver can tell. */
  messageId?: string;
}

export interface EmailVendor {
  /** Hands the message over; the id under which the vendor knows it. Throws when it was not taken. */
  send(email: Email): Promise<{ id: string }>;
  close(): void;
}

declare module '../../kernel/context/vendors.js' {
  interface Vendors {
    email: EmailVendor;
  }
}
