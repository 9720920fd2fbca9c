import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { bodyFaultsOf, published } from '../contract/published.js';
import { type Account, type Loose, server, type TestServer } from '../support/index.js';

interface Pair {
  key: string;
  value: string;
  disabled?: boolean;
}
interface Request {
  method: string;
  auth?: { type: string };
  header: Pair[];
  url: { raw: string; path: string[]; query?: Pair[]; variable?: Pair[] };
  body?: { raw: string };
}
interface Folder {
  name: string;
  item: { name: string; request: Request }[];
}

const collection = JSON.parse(readFileSync('schema/postman.json', 'utf8')) as { item: Folder[]; variable: Pair[]; auth: Loose };
const requests = collection.item.flatMap(({ name, item }) => item.map(({ request }) => ({ folder: name, request })));
const addressOf = ({ method, url }: Request) => `${method} /${url.path.join('/').replace(/:(\w+)/g, '{$1}')}`;

let crm: TestServer;
let acme: Account;
let secret: string;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
  ({ secret } = await acme.key({ permission: 'admin' }));
});
afterAll(() => crm.close());

/** Sends a request as Postman does: variables in their places, what is switched off left out, the key of the collection. */
async function send(address: string, own: Record<string, string> = {}) {
  const { request } = requests.find((one) => addressOf(one.request) === address)!;
  const values: Record<string, string> = { baseUrl: `http://127.0.0.1:${crm.wire.port}/api/v1`, apiKey: secret, ...own };
  const filled = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
  const on = (pairs: Pair[] = []) => pairs.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, filled(value)]);
  const path = request.url.raw.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '');
  const [credentials] = request.auth ? [] : collection.auth.bearer;
  const headers = {
    ...Object.fromEntries(on(request.header)),
    ...(credentials && { Authorization: `Bearer ${filled(credentials.value)}` }),
  };
  const reply = await fetch(filled(path), { method: request.method, headers, body: request.body && filled(request.body.raw) });
  const body = (await reply.json()) as Loose;
  if (reply.status >= 300) throw new Error(`${address}: ${JSON.stringify(body)}`);
  return body.data;
}

describe('the Postman collection', () => {
  it('is served without credentials, and is the one that is committed', async () => {
    const reply = await crm.anybody().get('/postman.json');
    expect([reply.status, reply.body]).toEqual([200, collection]);
  });

  it('has every route that is served once, in the folder of its tag, with credentials where they are asked for', () => {
    const served = published.endpoints.filter(({ endpoint }) => endpoint.status !== 410);
    const expected = served.map(({ module, address, needs }) => [module, address, needs.public || needs.session]);
    const has = requests.map(({ folder, request }) => [folder, addressOf(request), request.auth?.type === 'noauth']);
    expect(has.sort()).toEqual(expected.sort());
  });

  it('has an example body for each write that takes one, which the document allows', () => {
    const writes = requests.filter(({ request }) => request.body);
    expect(writes.length).toBeGreaterThan(90);
    const faults = writes.flatMap(({ request }) => {
      const address = addressOf(request);
      const text = request.body!.raw.replace(/\{\{\w+\}\}/g, () => v4());
      const fault = bodyFaultsOf(address, JSON.parse(text));
      return fault ? [`${address}: ${fault}`] : [];
    });
    expect(faults).toEqual([]);
  });

  it('asks for no variable that it does not name', () => {
    const named = new Set(collection.variable.map(({ key }) => key));
    const used = [...JSON.stringify(collection.item).matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!);
    expect(used.filter((name) => !named.has(name))).toEqual([]);
  });

  it('works as it comes, once its variables are set', async () => {
    const { id: contactId } = await send('POST /contacts');
    expect((await send('GET /contacts')).data).toHaveLength(1);
    expect((await send('PATCH /contacts/{id}', { id: contactId })).firstName).toBe('Ada');
    const { id: tagId } = await send('POST /tags');
    await send('POST /contacts/{id}/tags', { id: contactId, tagId });
    const { id: pipelineId } = await send('POST /pipelines');
    const { id: stageId } = await send('POST /pipelines/{id}/stages', { id: pipelineId });
    const deal = await send('POST /deals', { pipelineId, stageId });
    expect((await send('GET /deals/{id}', { id: deal.id })).stageId).toBe(stageId);
    for (const address of ['POST /companies', 'POST /products', 'POST /tasks', 'POST /webhooks/manage', 'POST /forms', 'POST /calendars'])
      expect([address, (await send(address)).id]).toEqual([address, expect.any(String)]);
    for (const address of ['POST /invoices', 'POST /smart-lists', 'POST /custom-fields', 'POST /workflows', 'POST /emails/sequences'])
      expect([address, (await send(address)).id]).toEqual([address, expect.any(String)]);
    for (const address of ['POST /automations', 'POST /calls'])
      expect([address, (await send(address)).id]).toEqual([address, expect.any(String)]);
    for (const [address, id] of [
      ['POST /bulk/contacts/edit', contactId],
      ['POST /bulk/deals/edit', deal.id],
    ] as const)
      expect([address, await send(address, { id })]).toEqual([address, { total: 1, succeeded: 1, failed: 0 }]);
    await send('POST /notes', { contactId });
    await send('POST /bulk/contacts/tag', { contactId, tagId });
    await send('DELETE /contacts/{id}', { id: contactId });
  });
});
