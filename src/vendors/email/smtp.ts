import { type EmailVendor, MailRefused } from './email.js';

async function connect(url: string) {
  const { createTransport } = await import('nodemailer');
  return createTransport({ url, pool: true, maxConnections: 5, connectionTimeout: 10_000, socketTimeout: 20_000 } as never);
}

/** What a fault of the transport means: a reply of 500 and above is final, everything else may pass. */
const refusal = ({ message, responseCode = 0 }: Error & { responseCode?: number }) => new MailRefused(message, responseCode >= 500);

/** E-mail by SMTP. */
export function smtpEmail(url: string, from: string): EmailVendor {
  let transport: ReturnType<typeof connect> | undefined;
  return {
    async send(email) {
      transport ??= connect(url).catch((error) => {
        transport = undefined;
        throw error;
      });
      const mail = { from, ...email, disableFileAccess: true, disableUrlAccess: true };
      try {
        const sent = (await (await transport).sendMail(mail as never)) as { messageId: string };
        return { id: sent.messageId };
      } catch (error) {
        throw refusal(error as Error & { responseCode?: number });
      }
    },
    close: () =>
      void transport?.then(
        (open) => open.close(),
        () => {},
      ),
  };
}
