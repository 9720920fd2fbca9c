import type { Loose } from './client.js';
import type { Account } from './seed.js';

/** The events and log entries that some work wrote, as "name id". */
export async function toldIn(
  account: Account,
  work: () => Promise<unknown>,
): Promise<{ events: string[]; entries: string[]; rows: Loose[] }> {
  const { prisma } = account.seed.app.database;
  const where = { accountId: account.id };
  const known = new Set(
    [...(await prisma.outboxEvent.findMany({ where })), ...(await prisma.activity.findMany({ where }))].map((r) => r.id),
  );
  await work();
  const rows = (await prisma.outboxEvent.findMany({ where, orderBy: { seq: 'asc' } })).filter((row) => !known.has(row.id));
  const entries = (await prisma.activity.findMany({ where })).filter((row) => !known.has(row.id));
  return {
    events: rows.map((row) => `${row.name} ${row.entityId}`).sort(),
    entries: entries.map((row) => `${row.type} ${row.entityId}`).sort(),
    rows,
  };
}
