import type { App } from '../../src/kernel/context/context.js';
import type { Client, Loose, Reply } from './client.js';

export const password = 'correct horse battery';

let people = 0;
const nextEmail = (name: string) => `${name}${++people}@example.com`;

interface AccountOptions {
  name?: string;
  email?: string;
  plan?: 'trial' | 'standard' | 'premium' | 'enterprise';
}

interface KeyOptions {
  name?: string;
  permission?: 'read' | 'read-write' | 'write' | 'admin';
  scopes?: string[];
  ipAllowlist?: string[];
  rateLimit?: number;
  expiresAt?: string;
}

/** An API key as a caller, with the record that its creation answered. */
export interface KeyClient extends Client {
  secret: string;
  record: Loose;
}

/** The reply's `data`, or the test ends here with the whole reply. */
export function dataOf(reply: Reply): Loose {
  if (reply.status >= 300) throw new Error(`Expected success, got ${reply.status} ${reply.text}`);
  return reply.body.data;
}

/** What tests begin with: accounts, and in them people, keys and records, made through the API wherever it can. */
export class Seed {
  constructor(
    readonly app: App,
    readonly anybody: () => Client,
  ) {}

  /** Registers an account; its owner is logged in. The plan is enterprise by default, so that no limit is met by accident. */
  async account({ name = 'Acme', email = nextEmail('owner'), plan = 'enterprise' }: AccountOptions = {}): Promise<Account> {
    const owner = this.anybody();
    const result = dataOf(await owner.post('/auth/register', { email, password, accountName: name }));
    await this.app.database.prisma.account.update({ where: { id: result.account.id }, data: { plan } });
    return new Account(this, result.account.id, email, result.user.id, owner);
  }
}

export class Account {
  constructor(
    readonly seed: Seed,
    readonly id: string,
    readonly ownerEmail: string,
    readonly ownerId: string,
    /** The owner's session. */
    readonly owner: Client,
  ) {}

  /** An API key that the owner made; admin over every domain by default. */
  async key({ name = 'key', permission = 'admin', ...rest }: KeyOptions = {}): Promise<KeyClient> {
    const record = dataOf(await this.owner.post('/api-keys', { name, permission, ...rest }));
    const client = this.seed.anybody().with({ authorization: `Bearer ${record.key}` });
    return Object.assign(client, { secret: record.key as string, record });
  }

  /** A person of the account, logged in. */
  async member(role: 'member' | 'admin' | 'owner' = 'member'): Promise<Client & { userId: string; email: string }> {
    const { prisma } = this.seed.app.database;
    const { passwordHash } = await prisma.user.findUniqueOrThrow({ where: { id: this.ownerId } });
    const email = nextEmail(role);
    const user = await prisma.user.create({ data: { email, passwordHash, firstName: 'Mem', lastName: 'Ber' } });
    const now = this.seed.app.clock.now();
    const times = { createdAt: now, updatedAt: now };
    await prisma.membership.create({ data: { accountId: this.id, userId: user.id, role, name: 'Mem Ber', ...times } });
    return Object.assign(await this.login(email), { userId: user.id, email });
  }

  /** A fresh session of one of the account's people. */
  async login(email = this.ownerEmail): Promise<Client> {
    const client = this.seed.anybody();
    dataOf(await client.post('/auth/login', { email, password, accountId: this.id }));
    return client;
  }

  /** A contact, made through the API. */
  async contact(fields: Record<string, unknown> = { firstName: 'Ada', email: nextEmail('ada') }): Promise<Loose> {
    return dataOf(await this.owner.post('/contacts', fields));
  }

  /** A tag, made through the API. */
  async tag(name = `some tag ${++people}`, color?: string): Promise<Loose> {
    return dataOf(await this.owner.post('/tags', { name, color }));
  }

  /** A pipeline, made through the API: three open stages, one for won deals and one for lost ones by default. */
  async pipeline(fields: Record<string, unknown> = {}): Promise<Loose> {
    const stages = [{ name: 'New' }, { name: 'Talking' }, { name: 'Offer' }, { name: 'Won', isWon: true }, { name: 'Lost', isLost: true }];
    return dataOf(await this.owner.post('/pipelines', { name: `Pipeline ${++people}`, stages, ...fields }));
  }

  /** A company, made through the API. */
  async company(fields: Record<string, unknown> = {}): Promise<Loose> {
    return dataOf(await this.owner.post('/companies', { name: `Company ${++people}`, ...fields }));
  }

  /** A deal in the first stage of a pipeline, which is made unless given, made through the API. */
  async deal({ pipeline, ...fields }: Record<string, unknown> & { pipeline?: Loose } = {}): Promise<Loose> {
    const { id, stages } = pipeline ?? (await this.pipeline());
    return dataOf(await this.owner.post('/deals', { title: `Deal ${++people}`, pipelineId: id, stageId: stages[0].id, ...fields }));
  }

  /** A task, made through the API. */
  async task(fields: Record<string, unknown> = {}): Promise<Loose> {
    return dataOf(await this.owner.post('/tasks', { title: `Task ${++people}`, ...fields }));
  }

  /** A calendar, made through the API. */
  async calendar(fields: Record<string, unknown> = {}): Promise<Loose> {
    return dataOf(await this.owner.post('/calendars', { name: `Calendar ${++people}`, ...fields }));
  }

  /** An appointment of half an hour, made through the API: at noon of a day, UTC, on a calendar of its own unless others are given. */
  async appointment({ calendarId, ...fields }: Record<string, unknown> = {}): Promise<Loose> {
    const on = calendarId ?? (await this.calendar()).id;
    const times = { startTime: '2030-05-06T12:00:00Z', endTime: '2030-05-06T12:30:00Z' };
    return dataOf(await this.owner.post(`/calendars/${on}/appointments`, { title: `Appointment ${++people}`, ...times, ...fields }));
  }

  /** An invoice over 120.00 (two lines, no tax by default), made through the API. */
  async invoice(fields: Record<string, unknown> = {}): Promise<Loose> {
    const items = [
      { description: 'Setup', quantity: 1, unitPrice: 100 },
      { description: 'Hours', quantity: 2, unitPrice: 10 },
    ];
    return dataOf(await this.owner.post('/invoices', { items, ...fields }));
  }
}
