import { v7 } from 'uuid';
import type { Loose } from './client.js';
import type { Account } from './seed.js';

const madeNow = ({ seed }: Account) => ({ createdAt: seed.app.clock.now(), updatedAt: seed.app.clock.now() });

/** A message with a contact as the database keeps it: for what reads messages without serving them. */
export async function keepMessage(account: Account, contact: Loose, direction: 'inbound' | 'outbound', fields: object = {}): Promise<void> {
  const row = { id: v7(), accountId: account.id, contactId: contact.id as string, channel: 'sms', body: 'Hello', direction };
  await account.seed.app.database.prisma.message.create({ data: { ...row, ...madeNow(account), ...fields } });
}

interface Thread {
  lastInboundAt?: Date;
  lastOutboundAt?: Date;
  closedAt?: Date;
}

/** The head of a contact's thread as the database keeps it. */
export async function keepThread(account: Account, contact: Loose, thread: Thread): Promise<void> {
  const key = { accountId: account.id, contactId: contact.id as string };
  const create = { ...key, ...madeNow(account), ...thread };
  await account.seed.app.database.prisma.conversation.upsert({ where: { key }, create, update: thread });
}
