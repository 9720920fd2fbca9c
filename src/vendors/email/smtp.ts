import { createTransport } from 'nodemailer';
import type { EmailVendor } from './email.js';

/** E-mail by SMTP. */
export function smtpEmail(url: string, from: string): EmailVendor {
  const transport = createTransport({ url, pool: true, maxConnections: 5, connectionTimeout: 10_000, socketTimeout: 20_000 } as never);
  return {
    async send(email) {
      const sent = (await transport.sendMail({ from, ...email, disableFileAccess: true, disableUrlAccess: true } as never)) as {
        messageId: string;
      };
      return { id: sent.messageId };
    },
    close: () => transport.close(),
  };
}
