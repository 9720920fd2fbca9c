import { addressOf, type EmailVendor, MailLeft, MailRefused } from './email.js';

const connections = 5;

/** How long a mail may take where nobody says it. */
const longestMs = 25_000;

/** Lets as many mails go at once as there are connections: how long one waits is known, and it has the rest of its time to go. */
class Semaphore {
  #free = connections;
  readonly #waiting = new Set<(isIts: boolean) => void>();

  /** Whether it is the mail's turn at once. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Whether it is the mail's turn before so many milliseconds have passed. */
  acquire(patience: number): Promise<boolean> {
    return new Promise((resume) => {
      const answer = (isIts: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(answer);
        resume(isIts);
      };
      const timer = setTimeout(answer, patience, false);
      this.#waiting.add(answer);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next) next(true);
    else this.#free++;
  }
}

async function connect(url: string) {
  const { createTransport } = await import('nodemailer');
  const patience = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
  return createTransport({ url, pool: true, maxConnections: connections, ...patience } as never);
}

interface Fault extends Error {
  code?: string;
  /** What the mail server answered, its code, and to what. */
  response?: string;
  responseCode?: number;
  command?: string;
}

/** What is said of a mail or of its addresses; all else, such as a login that is refused, of the server or of its settings. */
const ofTheMail = new Set(['EENVELOPE', 'EMESSAGE']);

/** Replies that want a login or an encryption, or refuse a login, whatever they answer (RFC 4954, section 6): the mail is not at fault. */
const ofTheLogin = new Set([530, 534, 535, 538]);

/** What a mail server answers to the size of a mail (RFC 1870, section 6.1), which it is told with the sender. */
const tooLarge = 552;

/**
 * Words for a sender that is refused, wherever the server says it: Postfix after the reader is named, Exchange, Amazon SES and SendGrid at
 * the end (RFC 3463, section 3.2: X.1.7 and X.1.8 are of the sender's address). SES says the same of readers while it is in its sandbox.
 */
const namesTheSender =
  /^\d{3}[ -]5\.(1\.[78]|2\.252|7\.60)\b|SendAsDenied|sender address rejected|verified sender identity|address is not verified/i;

/** Words for a login that is missing, or not good for mail to others: Postfix, Exim and Exchange say it of the reader. */
const relaysNothing = /relay(ing)? (access )?(denied|not permitted)|not permitted to relay|unable to relay/i;

/** Whether the sender or the login is refused: that is of this server or its settings, and says nothing of whom the mail is to. */
const isOfUs = ({ command, response = '', responseCode = 0 }: Fault) =>
  ofTheLogin.has(responseCode) ||
  [namesTheSender, relaysNothing].some((words) => words.test(response)) ||
  (command === 'MAIL FROM' && responseCode !== tooLarge);

/** What a fault of the transport means: a reply of 500 and above to the mail or its reader is final, everything else may pass. */
function refusal(fault: Fault): MailRefused {
  const { message, code = '', responseCode = 0 } = fault;
  return new MailRefused(message, ofTheMail.has(code) && responseCode >= 500 && !isOfUs(fault));
}

/** E-mail by SMTP. */
export function smtpEmail(url: string, from: string): EmailVendor {
  let transport: ReturnType<typeof connect> | undefined;
  const semaphore = new Semaphore();
  return {
    async send({ within = longestMs, mayGo, ...email }) {
      const begun = performance.now();
      const isAtOnce = semaphore.tryAcquire();
      if (!isAtOnce && !(await semaphore.acquire(within / 2))) throw new MailRefused('The mail server is busy', false);
      try {
        if (!isAtOnce && mayGo && !(await mayGo())) throw new MailLeft();
        transport ??= connect(url).catch((error) => {
          transport = undefined;
          throw error;
        });
        const signal = AbortSignal.timeout(Math.max(0, Math.round(within - (performance.now() - begun))));
        const mail = { from, ...email, signal, disableFileAccess: true, disableUrlAccess: true };
        const sent = (await (await transport).sendMail(mail as never)) as { messageId: string };
        return { id: sent.messageId, from: addressOf(mail.from) };
      } catch (error) {
        throw error instanceof MailLeft ? error : refusal(error as Fault);
      } finally {
        semaphore.release();
      }
    },
    close: () =>
      void transport?.then(
        (open) => open.close(),
        () => {},
      ),
  };
}
