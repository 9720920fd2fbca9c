import type { EmailVendor } from './email.js';

async function connect(url: string) {
  const { createTransport } = await import('nodemailer');
  return createTransport({ url, pool: true, maxConnections: 5, connectionTimeout: 10_000, socketTimeout: 20_000 } as never);
}

/** E-mail by SMTP. */
export function smtpEmail(url: string, from: string): EmailVendor {
  let transport: ReturnType<typeof connect> | undefined;
  return {
    async send(email) {
      transport ??= connect(url).catch((error) => {
        transport = undefined;
        throw error;
      });
      const sent = (await (await transport).sendMail({ from, ...email, disableFileAccess: true, disableUrlAccess: true } as never)) as {
        messageId: string;
      };
      return { id: sent.messageId };
    },
    close: () =>
      void transport?.then(
        (open) => open.close(),
        () => {},
      ),
  };
}
