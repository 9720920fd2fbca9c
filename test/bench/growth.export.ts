import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { median } from './report.js';

/** The columns of the export, tags by their names, in its order. */
const copied = (account: string) => `copy (
  select first_name, last_name, email, phone, company, job_title, source, address_line1, address_line2, city, state, zip, country, timezone,
    master_status, language, do_not_contact, (select string_agg(g.name, ', ' order by lower(g.name collate "und-x-icu"), g.id) from tags g
      where g.account_id = t.account_id and g.id = any(t.tag_ids)), nullif(custom_fields, '{}')
  from contacts t where t.account_id = '${account}' and t.deleted_at is null order by t.created_at desc, t.id desc) to stdout csv header`;

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** Seconds of psql, whose output nobody reads. */
function copy(url: string, account: string): Promise<number> {
  return seconds(async () => {
    const child = spawn('psql', ['-X', url, '-c', copied(account)], { stdio: ['ignore', 'ignore', 'inherit'] });
    const [code] = (await once(child, 'exit')) as [number];
    if (code !== 0) throw new Error(`psql ended with ${code}`);
  });
}

const rounds = 5;

/** Seconds of the export of all contacts, and of `COPY … TO STDOUT` of the same columns: medians of rounds in turn. */
export async function exported(exportOnce: () => Promise<unknown>, url: string, account: string): Promise<[number, number]> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i <= rounds; i++) {
    const taken = [await seconds(exportOnce), await copy(url, account)] as const;
    if (i === 0) continue;
    ours.push(taken[0]);
    theirs.push(taken[1]);
  }
  return [median(ours), median(theirs)];
}
