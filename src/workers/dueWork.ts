import type { Cause } from '../kernel/base/principal.js';
import type { App, DueWork } from '../kernel/context/context.js';
import { tablesWith } from '../kernel/database/sql.js';
import { actingAs, type FoundAccount, foundAccount } from '../modules/auth/auth.acting.js';
import { jobsWake } from './jobs.js';
import { type Work, Worker } from './worker.js';

/** Rows of one kind that are worked on at once in this process. */
const concurrency = 16;
/** How far the choice of what is next looks beyond what is taken, so that one account's many rows do not hold up the others. */
const lookahead = 8;
const second = 1000;
/** The longest pause before a row is worked on again whose work ended in a fault of ours, or whose account is suspended. */
const mostPause = 60 * 60 * second;

/** A row that was taken. */
interface Due {
  accountId: string;
  id: string;
  attempt: number;
  causes?: readonly Cause[] | null;
  /** What else it was taken with. */
  more?: unknown;
  /** The account that it is worked on for; none where that is suspended. */
  account: FoundAccount | null;
}

/**
 * Takes rows whose time has come by the server's clock and holds them for the time of a lease by the database's, which all
 * processes share. Accounts take turns. Each taking counts: who lost the lease cannot settle.
 */
const taking = ({ table }: DueWork) => `
  with soon as (
    select s.account_id, s.id, s.due_at, row_number() over (partition by s.account_id order by s.due_at, s.id) as nth from (
      select account_id, id, due_at from ${table} where due_at <= $1::timestamptz and (leased_until is null or leased_until <= now())
      order by due_at limit $2::int * ${lookahead}) s
  ), taken as (
    select t.account_id, t.id from ${table} t join (select * from soon order by nth, due_at limit $2::int) s using (account_id, id)
    where t.due_at <= $1::timestamptz and (t.leased_until is null or t.leased_until <= now()) for update of t skip locked
  )
  update ${table} t set attempt = t.attempt + 1, leased_until = now() + make_interval(secs => $3::int) from taken
  where t.account_id = taken.account_id and t.id = taken.id
  returning t.account_id as "accountId", t.id, t.attempt, ${tablesWith('causes').includes(table) ? 't.causes' : 'null::jsonb'} as causes`;

const putOff = ({ table }: DueWork) =>
  `update ${table} set due_at = $4::timestamptz, leased_until = null where account_id = $1::uuid and id = $2::uuid
    and attempt = $3::int and due_at is not null`;

/** The rows that come due, in every process that works. */
export class DueWorkers {
  readonly #workers: Worker<Due>[] = [];

  start(app: App): void {
    for (const [name, due] of app.registry.due) this.#workers.push(new Worker(app, workOn(name, due)));
  }

  async stop(patienceMs = 5000): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(patienceMs)));
  }
}

/** The rows that a statement takes, each with the account that it is worked on for. */
const withAccounts = (rows: string) => `
  with work as (${rows}) select w.*, ${foundAccount.text} as account from work w join accounts a on a.id = w."accountId"`;

/** The work on the due rows of one table. */
const workOn = (name: string, due: DueWork, text = withAccounts(due.taking ?? taking(due))): Work<Due> => ({
  wake: jobsWake(name),
  concurrency: due.concurrency ?? concurrency,
  idOf: ({ accountId, id }) => `${accountId} ${id}`,
  hasTurns: due.hasTurns,
  async take(app, most) {
    const { rows } = await app.database.execute(text, [app.clock.now().toISOString(), most, app.config.leaseSeconds]);
    return rows as Due[];
  },
  async run(app, { accountId, id, attempt, causes, more, account }) {
    const later = (ms: number) =>
      app.database.execute(putOff(due), [accountId, id, attempt, new Date(app.clock.now().getTime() + ms).toISOString()]);
    try {
      const request = { id: `due-${id}`, ip: '127.0.0.1', causes: causes ?? undefined };
      // The work of a suspended account waits.
      if (account) await due.work(actingAs(app, account, { actor: due.actor, request }), { id, attempt, more });
      else await later(mostPause);
    } catch (error) {
      app.log.error({ err: error, work: name, id, attempt }, 'due work failed');
      await later(due.pause ? due.pause * second : Math.min(2 ** attempt * 5 * second, mostPause));
    }
  },
});
