import { Redis } from 'ioredis';
import { endDropping } from './drop.mjs';

/** Drops what this run made, and nothing of another run that goes on beside it. */
export default async function globalTeardown() {
  const run = process.env.CRM_TEST_RUN;
  if (process.env.DATABASE_URL) await endDropping(process.env.DATABASE_URL, run);
  else await (await import('./kept.mjs')).closeDatabases();
  if (process.env.REDIS_URL) await forgetKeys(process.env.REDIS_URL, `crm_test_${run}_`);
}

async function forgetKeys(url, prefix) {
  const redis = new Redis(url);
  for await (const keys of redis.scanStream({ match: `${prefix}*` })) if (keys.length > 0) await redis.del(...keys);
  redis.disconnect();
}
