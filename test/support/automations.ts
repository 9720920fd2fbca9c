import type { AutomationRun, AutomationStepLog } from '../../src/generated/prisma/client.js';
import type { Loose } from './client.js';
import { eventually } from './live.js';
import { type Account, dataOf, type KeyClient } from './seed.js';

const far = 10 ** 12;

/** Does something while a reader of the feed is away; what has happened until then has its place in the feed. */
export async function whileUnread(account: Account, reader: string, work: () => Promise<unknown>): Promise<void> {
  const { database } = account.seed.app;
  const move = (by: number) =>
    database.execute('update feed_readers set pos = pos + $3::bigint where account_id = $1 and name = $2', [account.id, reader, by]);
  await move(far);
  await work();
  await allPlaced(account);
  await move(-far);
}

/** Waits until all events of an account have their places in the feed. */
export const allPlaced = ({ id, seed }: Account): Promise<unknown> =>
  eventually(async () => {
    const { rows } = await seed.app.database.execute(
      'select from outbox_events e where account_id = $1 and not exists (select from feed_positions p where p.account_id = e.account_id and p.seq = e.seq)',
      [id],
    );
    return rows.length === 0;
  });

/** A node of a graph. */
export const aNode = (id: string, type: string, config: Loose = {}, next?: string | null, branches?: Loose[]) => ({
  ...{ id, type, config, next: next ?? null },
  ...(branches && { branches }),
});
export const aTask = (id: string, next?: string, title = id) => aNode(id, 'action', { type: 'create_task', config: { title } }, next);

/** Automations of an account, and their runs as the database keeps them. */
export class Automations {
  #made = 0;

  constructor(
    readonly account: Account,
    /** Whose key lasts however far the clock is moved. */
    readonly key: KeyClient,
  ) {}

  get #prisma() {
    return this.account.seed.app.database.prisma;
  }

  /** Makes and publishes one whose graph begins with the first node; answers its id. */
  async make(nodes: Loose[], fields: Loose = {}): Promise<string> {
    const graph = { startNodeId: nodes[0]?.id, nodes };
    const { id } = dataOf(await this.key.post('/automations', { name: `Automation ${++this.#made}`, graph, ...fields }));
    dataOf(await this.key.post(`/automations/${id}/publish`));
    return id;
  }

  async contact(fields: Loose = {}): Promise<string> {
    return dataOf(await this.key.post('/contacts', { firstName: `Contact ${++this.#made}`, ...fields })).id;
  }

  /** Starts runs for contacts; answers their ids. */
  async enroll(id: string, ...contactIds: string[]): Promise<string[]> {
    const { details } = dataOf(await this.key.post(`/automations/${id}/bulk-enroll`, { contactIds }));
    return details.map(({ runId }: Loose) => runId);
  }

  /** Starts a run for a new contact. */
  async begin(nodes: Loose[], fields: Loose = {}): Promise<string> {
    const [run] = await this.enroll(await this.make(nodes, fields), await this.contact());
    return run!;
  }

  run(id: string): Promise<AutomationRun> {
    return this.#prisma.automationRun.findFirstOrThrow({ where: { accountId: this.account.id, id } });
  }

  /**
   * How a run stands, and the event that it waits for. What ends the wait takes the event at once, and leaves the status until a worker
   * has moved the run on.
   */
  async standing(id: string): Promise<string> {
    const { status, waitEvent } = await this.run(id);
    return `${status} ${waitEvent}`;
  }

  runs(automationId: string): Promise<AutomationRun[]> {
    return this.#prisma.automationRun.findMany({ where: { accountId: this.account.id, automationId }, orderBy: { createdAt: 'asc' } });
  }

  /** The run once it stands so. */
  async until(id: string, ...statuses: string[]): Promise<AutomationRun> {
    await eventually(async () => statuses.includes((await this.run(id)).status));
    return this.run(id);
  }

  steps(runId: string): Promise<AutomationStepLog[]> {
    return this.#prisma.automationStepLog.findMany({ where: { accountId: this.account.id, runId }, orderBy: { nth: 'asc' } });
  }

  /** The steps of a run as "node status". */
  async path(runId: string): Promise<string[]> {
    return (await this.steps(runId)).map(({ nodeId, status }) => `${nodeId} ${status}`);
  }

  /** Waits until the reader of the feed has read what has happened by now: a run of its own, started by a tag, is over. */
  async read(): Promise<void> {
    this.#probe ??= await this.make([aNode('end', 'end')], { triggerEvent: 'tag.created' });
    const probe = this.#probe;
    const { id } = await this.account.tag(`Probe ${crypto.randomUUID()}`);
    await eventually(async () => (await this.runs(probe)).some(({ entityId, status }) => entityId === id && status === 'success'));
  }
  #probe?: string;

  /** The titles of the tasks of a contact, in their order. */
  async tasks(contactId: string): Promise<string[]> {
    const tasks = await this.#prisma.task.findMany({ where: { accountId: this.account.id, contactId }, orderBy: { createdAt: 'asc' } });
    return tasks.map(({ title }) => title);
  }
}
