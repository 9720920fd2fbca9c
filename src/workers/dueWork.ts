import { hourMs, secondMs } from '../kernel/base/durations.js';
import { nilId } from '../kernel/base/ids.js';
import type { Cause } from '../kernel/base/principal.js';
import type { App, DueWork } from '../kernel/context/context.js';
import type { DueRow } from '../kernel/context/registry.js';
import { commitsUnawaited, tablesWith } from '../kernel/database/sql.js';
import { actingAs, type FoundAccount, foundAccount } from '../modules/auth/auth.acting.js';
import { countLapses, forgetLapses, isHopeless, type Lapsing, pauseOf } from './dueLapses.js';
import { workWake } from './jobs.js';
import { type Work, Worker } from './worker.js';

/** Rows of one kind that are worked on at once in this process. */
const concurrency = 16;
/** How far the choice of what is next looks before it looks at each account, so that one account's many rows do not hold up the others. */
const lookahead = 8;
/** So many accounts are looked at then; the next look begins behind them. */
const mostAccounts = 200;
/** For so long a place may go on to rows that are taken with the settling of others, in the name of the account as it was then. */
const goesOnMs = 1000;
/** What is under way when the process stops has this long to end: a call of a vendor or a webhook ends after ten seconds by itself. */
const longestWorkMs = 10_000;
/** So many accounts are remembered as served. */
const mostServed = 500;
/** The longest pause before a row is worked on again whose work ended in a fault of ours, or whose account is suspended. */
const mostPauseMs = hourMs;

/** A row that was taken. */
interface Due extends DueRow, Lapsing {
  causes?: readonly Cause[] | null;
  /** The last account that was looked at as it was taken, where there may be others behind it. */
  lookedTo?: string | null;
  /** The account that it is worked on for; none where that is suspended. */
  account: FoundAccount | null;
  /** Whether it was given back in the middle of its work, since the process stops: whatever becomes of that is not kept. */
  isCut?: boolean;
}

/**
 * Takes rows whose time has come by the server's clock and holds them for the time of a lease by the database's, which all
 * processes share. Accounts take turns: who has the fewest rows under way here ($4, one account a row) comes first, then who was
 * served the longest ago ($5, the latest last). Each taking counts: who lost the lease cannot settle. Where it looks at accounts, it
 * begins behind one ($6), and each row says which it looked at last: none where it came to the end of them. The rows that are chosen
 * are found again by their keys: `is true` keeps PostgreSQL from all that are due, which it may take for few.
 */
const taking = ({ table, brings }: DueWork) => `
  with recursive ahead as materialized (
    select account_id, id, due_at from ${table} where due_at <= $1::timestamptz and (leased_until is null or leased_until <= now())
    order by due_at limit $2::int * ${lookahead}
  ), accounts_due as (
    (select account_id, 1 as nth from ${table} where due_at is not null and account_id > $6::uuid
      and (select count(*) from ahead) = $2::int * ${lookahead} order by account_id, due_at limit 1)
    union all
    select n.account_id, a.nth + 1 from accounts_due a cross join lateral (
      select t.account_id from ${table} t where t.due_at is not null and t.account_id > a.account_id
      order by t.account_id, t.due_at limit 1) n
    where a.nth < ${mostAccounts}
  ), found as (
    select account_id, id, due_at from ahead
    union
    select f.account_id, f.id, f.due_at from accounts_due a cross join lateral (
      select t.account_id, t.id, t.due_at from ${table} t where t.account_id = a.account_id and t.due_at <= $1::timestamptz
        and (t.leased_until is null or t.leased_until <= now())
      order by t.due_at limit 1) f
  ), soon as (
    select f.account_id, f.id, f.due_at, row_number() over (partition by f.account_id order by f.due_at, f.id)
      + (select count(*) from unnest($4::uuid[]) busy where busy = f.account_id) as nth from found f
  ), taken as (
    select t.account_id, t.id, t.leased_until is not null as lapsed from ${table} t join (
      select * from soon order by nth, coalesce(array_position($5::uuid[], account_id), 0), due_at limit $2::int) s using (account_id, id)
    where (t.due_at <= $1::timestamptz) is true and (t.leased_until is null or t.leased_until <= now()) for update of t skip locked
  )
  update ${table} t set attempt = t.attempt + 1, leased_until = now() + make_interval(secs => $3::int) from taken
  where t.account_id = taken.account_id and t.id = taken.id
  returning t.account_id as "accountId", t.id, t.attempt, ${tablesWith('causes').includes(table) ? 't.causes' : 'null::jsonb'} as causes,
    (select account_id from accounts_due where nth = ${mostAccounts}) as "lookedTo", taken.lapsed as "isLapsed",
    (select n from due_lapses l where l.account_id = t.account_id and l.kind = '${table}' and l.id = t.id) as lapses,
    ${brings?.text ?? 'null'} as more`;

const putOff = ({ table }: DueWork) =>
  `update ${table} set due_at = $4::timestamptz, leased_until = null where account_id = $1::uuid and id = $2::uuid
    and attempt = $3::int and due_at is not null`;

/** The rows that come due, in every process that works. */
export class DueWorkers {
  readonly #workers: Worker<Due>[] = [];

  start(app: App): void {
    for (const [name, due] of app.registry.due) this.#workers.push(new Worker(app, workOn(app, name, due)));
  }

  /** Takes no more rows, waits for those that are worked on, and gives back what has not ended by then. */
  async stop(patienceMs = longestWorkMs): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(patienceMs)));
  }
}

/** The rows that a statement takes, each with the account that it is worked on for. */
const withAccounts = (rows: string, { mayForgetTaking }: DueWork) => `
  with work as (${rows}) select w.*, ${foundAccount.text} as account${mayForgetTaking ? `, ${commitsUnawaited.text} as unawaited` : ''}
  from work w join accounts a on a.id = w."accountId"`;

/** Fairness between accounts: whose rows are in progress here, and who was served last. */
class AccountFairness {
  readonly #busy = new Map<object, string>();
  readonly #served = new Set<string>();
  /** Behind which account the next look at accounts begins. */
  lookedTo: string = nilId;

  /** One account for each row that is worked on. */
  get busy(): string[] {
    return [...this.#busy.values()];
  }

  /** Accounts that were served, the latest last. */
  get served(): string[] {
    return [...this.#served];
  }

  begin(row: object, account: string): void {
    this.#busy.set(row, account);
    this.#served.delete(account);
    this.#served.add(account);
    if (this.#served.size > mostServed) this.#served.delete(this.#served.values().next().value!);
  }

  end(row: object): void {
    this.#busy.delete(row);
  }
}

const idOf = ({ accountId, id }: Due) => `${accountId} ${id}`;

/** The work on the due rows of one table. */
function workOn(app: App, name: string, due: DueWork): Work<Due> {
  const text = withAccounts(due.taking ?? taking(due), due);
  const fairness = new AccountFairness();
  /** What is worked on in the place of each row that was taken. */
  const underWay = new Map<string, Due>();
  return {
    wake: workWake(name),
    concurrency: due.concurrency ?? concurrency,
    idOf,
    hasTurns: due.hasTurns,
    async take(app, most) {
      const given = [app.clock.now().toISOString(), most, app.config.leaseSeconds];
      const { rows } = await app.database.executePlanned(
        text,
        due.taking ? given : [...given, fairness.busy, fairness.served, fairness.lookedTo],
      );
      fairness.lookedTo = (rows as Due[])[0]?.lookedTo ?? nilId;
      await countLapses(app, due, rows as Due[]);
      for (const row of rows as Due[]) fairness.begin(row, row.accountId);
      return rows as Due[];
    },
    async run(app, taken, mayGoOn) {
      const until = performance.now() + goesOnMs;
      const isFree = () => mayGoOn() && performance.now() < until;
      try {
        for (let next: DueRow | undefined = taken; next; ) {
          const row: Due = { ...taken, ...next };
          underWay.set(idOf(taken), row);
          next = await workOnRow(app, { name, due }, row, isFree);
          // The settling may have waited.
          if (next && !isFree()) next = await giveBack(app, { name, due }, { ...taken, ...next });
        }
      } finally {
        underWay.delete(idOf(taken));
        fairness.end(taken);
      }
    },
    async abandon(id) {
      const row = underWay.get(id);
      if (!row || due.keepsLease) return;
      row.isCut = true;
      await giveBack(app, { name, due }, row);
    },
  };
}

/** Has a row taken by whoever has room for it. */
async function giveBack(app: App, { name, due }: { name: string; due: DueWork }, { accountId, id, attempt }: Due): Promise<undefined> {
  const back = `update ${due.table} set leased_until = null where account_id = $1::uuid and id = $2::uuid and attempt = $3::int`;
  await app.database.execute(back, [accountId, id, attempt]).catch((error: unknown) => {
    app.log.warn({ err: error, work: name, id }, 'a row waits for the end of its lease');
  });
  app.jobs.wake(name);
}

const noteLapsed = ({ log }: App, row: object): void => log.warn(row, 'a row waits: processes ended in the middle of its work');
// A suspended account may have very many.
const noteSuspended = ({ log }: App, row: object): void => log.debug(row, 'a row waits: its account is suspended');

/** Works on one row; answers what its place goes on to. */
async function workOnRow(
  app: App,
  { name, due }: { name: string; due: DueWork },
  row: Due,
  mayGoOn: () => boolean,
): Promise<DueRow | undefined> {
  const { accountId, id, attempt, causes, more, account } = row;
  const later = (ms: number) =>
    app.database.execute(putOff(due), [accountId, id, attempt, new Date(app.clock.now().getTime() + ms).toISOString()]);
  let next: DueRow | undefined;
  const goOn = (after: DueRow) => {
    next = after;
  };
  try {
    const request = { id: `due-${id}`, ip: '127.0.0.1', causes: causes ?? undefined };
    const pause = account ? pauseOf(app, due, row) : mostPauseMs;
    if (!account || pause !== undefined) {
      (account ? noteLapsed : noteSuspended)(app, { work: name, id, accountId, attempt, pause });
      await later(pause!);
    } else {
      const ctx = actingAs(app, account, { actor: due.actor, request });
      if (due.giveUp && isHopeless(row)) await due.giveUp(ctx, { id, attempt });
      else await due.work(ctx, { id, attempt, more, place: { mayGoOn, goOn } });
      await forgetLapses(app, due, row);
    }
  } catch (error) {
    if (row.isCut) return undefined;
    await forgetLapses(app, due, row);
    app.log.error({ err: error, work: name, id, attempt }, 'due work failed');
    await later(Math.min(2 ** attempt * 5 * secondMs, due.pause ? due.pause * secondMs : mostPauseMs));
  }
  return next;
}
