import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { Clock } from '../../kernel/base/clock.js';
import { type LoopbackExchange, LoopbackServer } from '../loopback.js';
import { Outbox } from '../outbox.js';
import { fileOf } from './simulated.js';

/** What the simulator does with the next mails. */
export type MailBehaviour =
  /** Answers an SMTP status of 400 to 599 in place of taking the mail. */
  | { kind: 'refuse'; status: number }
  /** Neither takes the mail nor answers. */
  | { kind: 'hold' }
  /** Takes the mail, then never answers. */
  | { kind: 'hang' }
  /** Takes the mail and answers a fault of its own. */
  | { kind: 'fail'; status: number };

interface Taken {
  /** Where its envelope says that it comes back to. */
  envelopeFrom: string;
  from: string;
  to: string;
  subject: string;
  messageId: string;
  replyTo?: string;
  text: string;
  html?: string;
  /** Those of lists, by their names in small letters. */
  headers: Record<string, string>;
}

interface SimulatorOptions {
  outboxDir: string;
  clock: Clock;
  /** Where the server takes in mail, the secret by which it believes who brings it, and the domain whose mail that is. */
  inbound: { url: string; secret: string; domain?: string };
}

/** What it is told over HTTP of a mail that it has taken: the newest to an address, or the one of a Message-ID. */
interface Instruction {
  messageId?: string;
  to?: string;
  body?: string;
  subject?: string;
  status?: string;
}

/**
 * A mail server on the loopback, and the people behind it. It takes every mail, writes each Message-ID once to the outbox, and does
 * what it is told to over HTTP, of a mail by `messageId` or of the newest mail `to` an address:
 * `POST /simulator/next` (a behaviour for the next mail), `/simulator/reply` (`{ to, body, subject? }`: who got it answers),
 * `/simulator/bounce` (`{ to, status? }`: it comes back, with 5.1.1 by default), `/simulator/complain` (`{ to }`). What comes in is
 * brought to the server, signed, and its HTTP status answered as `{ status }`; a mail that comes back, only where its envelope names an
 * address of the domain whose mail is brought. `GET /simulator/messages` shows what was taken.
 */
export class SmtpSimulator {
  readonly #outbox: Outbox;
  readonly #taken: Taken[] = [];
  readonly #next: MailBehaviour[] = [];
  readonly #http = new LoopbackServer((exchange) => this.#told(exchange));
  readonly #smtp = new SMTPServer({
    authOptional: true,
    // A client would insist on a certificate that somebody vouches for.
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, { envelope }, done) => {
      const to = envelope.rcptTo[0]?.address ?? '';
      this.#take(stream, { to, envelopeFrom: envelope.mailFrom ? envelope.mailFrom.address : '' }).then(
        (behaviour) => answer(behaviour, done),
        done,
      );
    },
  });

  constructor(private readonly options: SimulatorOptions) {
    this.#outbox = new Outbox(options.outboxDir, options.clock);
    // A client that is killed resets its connection.
    this.#smtp.on('error', () => {});
  }

  /** Begins to listen for mail and, over HTTP, for what it is told. */
  async listen(port = 0, httpPort = 0): Promise<{ smtpUrl: string; base: string }> {
    await new Promise<void>((listening, failed) => {
      this.#smtp.once('error', failed);
      this.#smtp.listen(port, '127.0.0.1', listening);
    });
    const at = this.#smtp.server.address() as AddressInfo;
    return { smtpUrl: `smtp://127.0.0.1:${at.port}`, base: await this.#http.base(httpPort) };
  }

  close(): void {
    this.#outbox.close();
    this.#http.close();
    this.#smtp.close();
  }

  async #take(stream: Readable, envelope: Pick<Taken, 'to' | 'envelopeFrom'>): Promise<MailBehaviour | undefined> {
    const raw = await buffer(stream);
    const behaviour = this.#next.shift();
    if (behaviour?.kind === 'refuse' || behaviour?.kind === 'hold') return behaviour;
    const mail = await PostalMime.parse(raw);
    const messageId = mail.messageId ?? '';
    const ofLists = mail.headers.filter(({ key }) => key.startsWith('list-'));
    const taken: Taken = {
      from: mail.from?.address ?? '',
      ...envelope,
      subject: mail.subject ?? '',
      messageId,
      replyTo: mail.replyTo?.[0]?.address,
      text: mail.text?.trimEnd() ?? '',
      html: mail.html,
      headers: Object.fromEntries(ofLists.map(({ key, value }) => [key, value])),
    };
    this.#taken.push(taken);
    await this.#outbox.write({ channel: 'email', ...taken, body: taken.text }, fileOf(messageId));
    return behaviour;
  }

  async #told({ url: { pathname: path }, body, reply }: LoopbackExchange): Promise<void> {
    if (path === '/simulator/messages') return reply(200, this.#taken);
    if (path === '/simulator/waiting') return reply(200, { waiting: this.#next.length });
    const told = JSON.parse(body) as Instruction;
    if (path === '/simulator/next') return void reply(200, { waiting: this.#next.push(JSON.parse(body)) });
    const mail = this.#taken.findLast(({ messageId, to }) => (told.messageId ? messageId === told.messageId : to === told.to));
    const makes = incoming.get(path);
    if (!mail || !makes) return reply(404, { message: mail ? 'There is no such address' : 'No such mail was taken' });
    if (makes === bounce && !mail.envelopeFrom.endsWith(`@${this.options.inbound.domain}`))
      return reply(404, { message: `It comes back to ${mail.envelopeFrom}, whose mail nobody brings` });
    reply(200, { status: await this.#bring(await makes(mail, told)) });
  }

  /** Brings a mail to the server, as whoever takes in the mail of its domain does. */
  async #bring(raw: Buffer): Promise<number> {
    const { url, secret } = this.options.inbound;
    const signature = `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
    const headers = { 'content-type': 'message/rfc822', 'x-inbound-signature': signature };
    return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(raw) })).status;
  }
}

function answer(behaviour: MailBehaviour | undefined, done: (error?: Error | null) => void): void {
  if (!behaviour) done();
  else if (behaviour.kind !== 'hang' && behaviour.kind !== 'hold')
    done(Object.assign(new Error('Told to by the simulator'), { responseCode: behaviour.status }));
}

async function replyTo({ from, to, replyTo: asked, subject, messageId }: Taken, told: Instruction): Promise<Buffer> {
  const written = {
    from: to,
    to: asked ?? from,
    subject: told.subject ?? `Re: ${subject}`,
    text: told.body ?? 'Thank you',
    inReplyTo: messageId,
  };
  const { message } = await createTransport({ streamTransport: true, buffer: true }).sendMail(written);
  return message as Buffer;
}

/** A report on a mail, of one kind, with a part that says what became of it. */
const report = (kind: string, { to, messageId }: Pick<Taken, 'to' | 'messageId'>, type: string, said: readonly string[]) =>
  Buffer.from(
    [
      ...['From: MAILER-DAEMON@localhost', `To: ${to}`, 'Subject: About your mail', 'MIME-Version: 1.0'],
      ...[`Content-Type: multipart/report; report-type=${kind}; boundary=part`, '', '--part', `Content-Type: ${type}`, ''],
      ...[...said, '', '--part', 'Content-Type: text/rfc822-headers', '', `Message-ID: ${messageId}`, '', '--part--', ''],
    ].join('\r\n'),
  );

const bounce = (mail: Taken, { status = '5.1.1' }: Instruction) =>
  report('delivery-status', { ...mail, to: mail.envelopeFrom }, 'message/delivery-status', [
    ...['Reporting-MTA: dns; localhost', '', `Final-Recipient: rfc822; ${mail.to}`],
    ...[`Action: ${status.startsWith('5') ? 'failed' : 'delayed'}`, `Status: ${status}`],
  ]);

const complaint = (mail: Taken) =>
  report('feedback-report', { ...mail, to: mail.from }, 'message/feedback-report', ['Feedback-Type: abuse', 'Version: 1']);

const incoming = new Map<string, (mail: Taken, told: Instruction) => Buffer | Promise<Buffer>>([
  ['/simulator/reply', replyTo],
  ['/simulator/bounce', bounce],
  ['/simulator/complain', complaint],
]);
