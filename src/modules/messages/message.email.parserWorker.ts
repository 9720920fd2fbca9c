import { parentPort } from 'node:worker_threads';
import type { Email } from 'postal-mime';
import { parseMail } from './message.email.parser.js';

// Reads mails in a thread of its own: what a stranger wrote may take long to be read, and then the thread is ended.

/** What is kept of a mail. */
export interface Mail extends Pick<Email, 'headers' | 'from' | 'subject' | 'messageId' | 'text' | 'html'> {
  /** The texts of its other parts, of a report. */
  parts: string[];
}

/** What is asked of the thread, and what it answers: a mail, or nothing where it cannot be read. */
export interface Reading {
  body: Uint8Array;
  isReport: boolean;
}
export interface Read {
  mail?: Mail;
}

/** Lines of a mail, and of them those that may be the beginning of a part: each is objects while it is read. */
const [mostLines, mostParts] = [400_000, 5_000];
/** Characters of a text that are looked at. */
const mostText = 400_000;

const [newline, dash] = [0x0a, 0x2d];

function isTooLong(body: Uint8Array): boolean {
  let [lines, parts] = [0, 0];
  for (let at = body.indexOf(newline); at >= 0; at = body.indexOf(newline, at + 1)) {
    if (body[at + 1] === dash && body[at + 2] === dash) parts++;
    if (++lines > mostLines || parts > mostParts) return true;
  }
  return false;
}

const utf8 = new TextDecoder();

async function read({ body, isReport }: Reading): Promise<Mail> {
  if (isTooLong(body)) throw new Error('The mail has too many lines or parts');
  const { headers, from, subject, messageId, text, html, attachments } = await parseMail(body);
  const parts = isReport ? attachments.map(({ content }) => (typeof content === 'string' ? content : utf8.decode(content))) : [];
  const kept = (whole: string | undefined) => whole?.slice(0, mostText);
  return { headers, from, subject: kept(subject), messageId, text: kept(text), html: kept(html), parts: parts.map((part) => kept(part)!) };
}

parentPort!.on('message', async (asked: Reading) => {
  const answer: Read = await read(asked).then(
    (mail) => ({ mail }),
    () => ({}),
  );
  parentPort!.postMessage(answer);
});
