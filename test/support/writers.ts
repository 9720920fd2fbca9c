import { type Client, dataOf, type Loose, type Reply } from './index.js';

/** A write that was acknowledged: what a read of its record must show from then on, and what must have been told of it. */
export interface Acknowledged {
  id: string;
  /** Where the record is read. */
  path: string;
  holds: Loose;
  /** The name of its event, and of its entry in the log. */
  fact: string;
}

interface Step {
  method: 'POST' | 'PATCH';
  path: string;
  body: object;
  fact: string;
  /** What the record's own address is, where the write goes to another. */
  at?: string;
  holds?: Loose;
}

/** All that was acknowledged to anybody, in the order in which it was. */
export class Journal {
  readonly entries: Acknowledged[] = [];
  /** What is being written to a record, and so may be there before anybody is told. */
  readonly pending = new Map<string, Loose>();
  /** Creations that nobody knows the outcome of: no reply came or a 503, and they had no key to ask again with. */
  uncertain = 0;
  readonly #waiting: { count: number; resume: () => void }[] = [];

  add(entry: Acknowledged): void {
    this.entries.push(entry);
    for (const { count, resume } of this.#waiting) if (this.entries.length >= count) resume();
  }

  /** Resolves once so many writes are acknowledged. */
  reached(count: number): Promise<void> {
    return new Promise((resume) => {
      if (this.entries.length >= count) resume();
      else this.#waiting.push({ count, resume });
    });
  }

  /** How often each record was told of, by the fact's name and its id. */
  facts(): Map<string, number> {
    return tally(this.entries.map(({ fact, id }) => `${fact} ${id}`));
  }
}

export function tally(names: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const brokenOff = /ECONNRESET|ECONNREFUSED|EPIPE|socket hang up/;

export interface WriterOptions {
  client: Client;
  journal: Journal;
  /** Resolves while the server can be asked. */
  up: () => Promise<unknown>;
  pipeline: Loose;
}

/** Creates and changes records of every kind, one after the other, however often the server dies. */
export class Writer {
  #count = 0;

  /** @param hasKeys whether its creations carry an Idempotency-Key, and so are asked again when their reply is lost */
  constructor(
    private readonly name: string,
    private readonly hasKeys: boolean,
    private readonly options: WriterOptions,
  ) {}

  async until(count: number): Promise<void> {
    while (this.options.journal.entries.length < count) await this.#round();
  }

  /** A contact and what belongs to it; as every person does, it goes on with what it was told exists. */
  async #round(): Promise<void> {
    const contact = await this.#create('contacts', 'contact.created', (lastName) => ({ lastName }));
    const tag = await this.#create('tags', 'tag.created', (name) => ({ name }));
    await this.#change('contacts', contact, 'contact.updated', { jobTitle: this.#mark() });
    await this.#write({
      ...{ method: 'POST', path: `/contacts/${contact}/tags`, at: `/contacts/${contact}`, fact: 'contact.updated' },
      ...{ body: { tagIds: [tag] }, holds: { tags: [{ id: tag }] } },
    });
    const { id: pipelineId, stages } = this.options.pipeline;
    const deal = await this.#create('deals', 'deal.created', (title) => ({
      ...{ title, value: 12.5, contactId: contact },
      ...{ pipelineId, stageId: stages[0].id },
    }));
    await this.#change('deals', deal, 'deal.updated', { value: ++this.#count });
    const note = await this.#create('notes', 'note.created', (body) => ({ body, contactId: contact }));
    await this.#change('notes', note, 'note.updated', { body: this.#mark() });
    await this.#create('tasks', 'task.created', (title) => ({ title, contactId: contact }));
  }

  #mark(): string {
    return `${this.name}-${++this.#count}`;
  }

  /** @param fields makes the body, another one where it is not known what became of the last */
  async #create(kind: string, fact: string, fields: (mark: string) => object): Promise<string> {
    for (;;) {
      const id = await this.#write({ method: 'POST', path: `/${kind}`, body: fields(this.#mark()), fact });
      if (id) return id;
    }
  }

  #change(kind: string, id: string, fact: string, body: object): Promise<unknown> {
    return this.#write({ method: 'PATCH', path: `/${kind}/${id}`, body, fact });
  }

  /** The record's id; none when the outcome is not known and cannot be asked for. */
  async #write(step: Step): Promise<string | undefined> {
    const { method, path, body, fact, holds = body } = step;
    const named = path.split('/')[2];
    const headers = this.hasKeys && method === 'POST' ? { 'idempotency-key': `kill ${this.#mark()}` } : undefined;
    const { journal } = this.options;
    const address = step.at ?? path;
    journal.pending.set(address, holds);
    for (;;) {
      const reply = await this.#ask(() => this.options.client.send(method, path, body, headers));
      // What names its record may be said twice.
      const isLost = !reply || reply.status === 503;
      if (isLost && !headers && !named) {
        journal.uncertain++;
        return undefined;
      }
      // Not now: the database still ends what the dead process had begun.
      if (isLost || reply.body.code === 'send_in_progress') continue;
      const id = named ?? (dataOf(reply).id as string);
      journal.pending.delete(address);
      journal.add({ id, path: named ? address : `${path}/${id}`, holds, fact });
      return id;
    }
  }

  async #ask(send: () => Promise<Reply>): Promise<Reply | undefined> {
    await this.options.up();
    try {
      return await send();
    } catch (error) {
      if (!brokenOff.test(String(error))) throw error;
      return undefined;
    }
  }
}
