import { Redis } from 'ioredis';
import pg from 'pg';

/** Drops what this run made, and nothing of another run that goes on beside it. */
export default async function globalTeardown() {
  const run = process.env.CRM_TEST_RUN;
  if (process.env.DATABASE_URL) await dropDatabases(process.env.DATABASE_URL, `crm_test_${run}_`);
  if (process.env.REDIS_URL) await forgetKeys(process.env.REDIS_URL, `crm_test_${run}_`);
}

async function dropDatabases(url, prefix) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query('select datname from pg_database where starts_with(datname, $1)', [prefix]);
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  await client.end();
}

async function forgetKeys(url, prefix) {
  const redis = new Redis(url);
  for await (const keys of redis.scanStream({ match: `${prefix}*` })) if (keys.length > 0) await redis.del(...keys);
  redis.disconnect();
}
