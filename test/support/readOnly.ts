import pg from 'pg';
import type { TestServer } from './server.js';

/** Has new transactions of the server's database take no writes, as on a standby or while a disk is nearly full, or take them again. */
async function setReadOnly({ app, place: { databaseUrl } }: TestServer, state: 'on' | 'off'): Promise<void> {
  if (!databaseUrl) {
    await app.database.execute(`set default_transaction_read_only = ${state}`);
    return;
  }
  const admin = new pg.Client(databaseUrl);
  await admin.connect();
  try {
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`do $$ begin
      execute format('alter database %I set default_transaction_read_only = ${state}', current_database());
    end $$`);
    // It holds for connections that are made from here on.
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'crm-server'`);
  } finally {
    await admin.end();
  }
}

/** Does something while the server's database takes no writes. */
export async function whileReadOnly(api: TestServer, work: () => Promise<unknown>): Promise<void> {
  try {
    await setReadOnly(api, 'on');
    await work();
  } finally {
    await setReadOnly(api, 'off');
  }
}
