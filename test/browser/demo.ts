import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'puppeteer-core';
import twilio from 'twilio';
import type { Loose } from '../support/client.js';
import { ServerProcess } from '../support/process.js';
import { TcpProxy } from '../support/proxy.js';
import { freePort, Simulators } from '../support/simulators.js';
import { openBrowser, Screen, type Shown } from './screen.js';

const email = 'demo@example.com';

/** The built server with its demo account, the simulators of its vendors, and a browser whose connections can be cut. */
export class Demo {
  readonly #screens: Screen[] = [];

  private constructor(
    private readonly dataDir: string,
    private readonly simulators: Simulators,
    private readonly server: ServerProcess,
    readonly address: string,
    /** What the browser goes through. */
    readonly line: TcpProxy,
    readonly browser: Browser,
  ) {}

  static async start(): Promise<Demo> {
    const dataDir = mkdtempSync(join(tmpdir(), 'crm-browser-'));
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const simulators = await Simulators.begin(publicUrl);
    // A play does more in a minute than a person is allowed.
    const settings = { ...simulators.settings, DATA_DIR: dataDir, PORT: String(port), PUBLIC_URL: publicUrl, RATE_LIMIT_ENABLED: '0' };
    const server = new ServerProcess(settings);
    const [address, browser] = await Promise.all([server.address(), openBrowser()]);
    return new Demo(dataDir, simulators, server, address, await TcpProxy.before(address), browser);
  }

  async end(): Promise<void> {
    await this.browser.close();
    await this.line.close();
    await Promise.all([this.server.kill(), this.simulators.end()]);
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  secret(name: 'demo.key' | 'demo.password'): string {
    return readFileSync(join(this.dataDir, name), 'utf8').trim();
  }

  /** A tab of the browser; one that shares no cookies with the others where it is somebody else's. */
  async tab(isElse = false): Promise<Screen> {
    return this.#open(isElse ? await this.browser.createBrowserContext() : this.browser.defaultBrowserContext());
  }

  /** A tab that shares its cookies with this one. */
  beside({ page }: Screen): Promise<Screen> {
    return this.#open(page.browserContext());
  }

  async #open(context: BrowserContext): Promise<Screen> {
    const screen = await Screen.open(context, new URL(this.line.through(this.address)).origin);
    this.#screens.push(screen);
    return screen;
  }

  /** What went wrong in all tabs since this was asked last. */
  faults(): string[] {
    return this.#screens.flatMap(({ faults }) => faults.splice(0));
  }

  async login(screen: Screen, person = { email, password: this.secret('demo.password') }): Promise<void> {
    await screen.visit('/board');
    const address = await screen.find('input[name=email]');
    await address.evaluate((field) => (field as HTMLInputElement).select());
    await address.type(person.email);
    await (await screen.find('input[name=password]')).type(person.password);
    await screen.page.keyboard.press('Enter');
  }

  /** Asks the server by GraphQL, past the browser and what it goes through. */
  async ask(query: string, variables: object = {}): Promise<Loose> {
    const headers = { authorization: `Bearer ${this.secret('demo.key')}`, 'content-type': 'application/json' };
    const reply = await fetch(`${this.address}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    const { data, errors } = (await reply.json()) as Loose;
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }

  /** Calls by REST, past the browser. */
  async rest(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<{ data: Loose; cookie: string }> {
    const caller = headers ?? { authorization: `Bearer ${this.secret('demo.key')}` };
    const init = { method, headers: { 'content-type': 'application/json', ...caller }, body: body && JSON.stringify(body) };
    const reply = await fetch(`${this.address}/api/v1${path}`, init);
    const { data, ...fault } = (await reply.json()) as Loose;
    if (!reply.ok) throw new Error(`${method} ${path}: ${JSON.stringify(fault)}`);
    return {
      data,
      cookie: reply.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; '),
    };
  }

  /** What the board should show. */
  async board(): Promise<Shown> {
    const { pipelines, deals } = await this.ask(`{
      pipelines(first: 1) { nodes { stages { id } } }
      deals(filter: { view: board }, first: 200) { nodes { id title stageId } }
    }`);
    return pipelines.nodes[0].stages.map(({ id }: Loose) => ({
      stageId: id,
      deals: deals.nodes.filter((deal: Loose) => deal.stageId === id).map((deal: Loose) => `${deal.id} ${deal.title}`),
    }));
  }

  /** 200 changes of all kinds. */
  async change(): Promise<void> {
    const { pipelines } = await this.ask('{ pipelines(first: 1) { nodes { id stages { id } } } }');
    const [{ id: pipelineId, stages }] = pipelines.nodes;
    const [first, second] = stages.map(({ id }: Loose) => id);
    const own: string[] = [];
    for (let n = 0; n < 200; n++) {
      if (n % 4 === 0) {
        const input = { title: `While it was cut ${n}`, pipelineId, stageId: n % 8 ? first : second, value: n };
        own.push((await this.ask('mutation ($input: CreateDealInput!) { createDeal(input: $input) { id } }', { input })).createDeal.id);
      }
      const id = own[(n * 7) % own.length]!;
      if (n % 4 === 1) await this.ask('mutation ($id: ID!, $to: ID!) { moveDeal(id: $id, stageId: $to) { id } }', { id, to: second });
      if (n % 4 === 2) await this.ask(`mutation ($id: ID!) { updateDeal(id: $id, input: { title: "Renamed ${n}" }) { id } }`, { id });
      if (n % 4 === 3 && n % 8 === 3)
        await this.ask('mutation ($id: ID!) { deleteDeal(id: $id) { __typename } }', { id: own.splice(own.indexOf(id), 1)[0] });
      else if (n % 4 === 3) await this.ask('mutation ($id: ID!, $to: ID!) { moveDeal(id: $id, stageId: $to) { id } }', { id, to: first });
    }
  }

  /** A number of the workspace that a call flow answers. */
  async number(): Promise<string> {
    const { data: free } = await this.rest('GET', '/settings/numbers/available');
    const phoneNumber = free[0].number;
    const { data: flow } = await this.rest('POST', '/call-flows', { name: 'Front desk', phoneNumber });
    await this.rest('POST', `/call-flows/${flow.id}/publish`, { expectedUpdatedAt: flow.updatedAt });
    return phoneNumber;
  }

  /** Tells the server of a call as the vendor does. */
  async callNotice(path: string, form: Record<string, string>): Promise<number> {
    const signature = twilio.getExpectedTwilioSignature(this.simulators.settings.TWILIO_AUTH_TOKEN!, `${this.address}${path}`, form);
    const reply = await fetch(`${this.address}${path}`, {
      method: 'POST',
      headers: { 'x-twilio-signature': signature },
      body: new URLSearchParams(form),
    });
    return reply.status;
  }

  /** Somebody with a workspace of their own, who may ask its owners for a second factor that they do not have yet. */
  async ownerWithoutFactor(name: string) {
    const person = { email: `${name}@example.com`, password: 'a password of theirs' };
    const { cookie } = await this.rest('POST', '/auth/register', { ...person, accountName: 'Theirs' }, {});
    return { person, demandFactor: () => this.rest('PATCH', '/auth/mfa/policy', { roles: ['owner'] }, { cookie }) };
  }

  /** Gives the demo's person a second factor; its secret. */
  async secondFactor(codeOf: (secret: string) => string): Promise<string> {
    const password = this.secret('demo.password');
    const { cookie } = await this.rest('POST', '/auth/login', { email, password }, {});
    const { data } = await this.rest('POST', '/auth/mfa/setup', { password }, { cookie });
    await this.rest('POST', '/auth/mfa/enable', { code: codeOf(data.secret) }, { cookie });
    return data.secret;
  }
}
