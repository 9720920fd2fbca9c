import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, server, type TestServer } from '../support/index.js';
import { bodyFaultsOf, document, expectPublished, operationAt } from './published.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('the document of addresses and URLs', () => {
  it.each([
    ['POST /contacts', { email: 'ü@exämple.de' }],
    ['POST /contacts', { email: '.a..b.@example.com' }],
    ['POST /forms', { name: 'With letters', redirectUrl: 'https://example.com:8443/dänke?a=1' }],
    ['POST /forms', { name: 'With brackets', redirectUrl: 'https://exämple.de/x?a[]=1&q={x}|y' }],
  ])('allows what the server takes, and keeps to it in the answer: %s %j', async (address, body) => {
    expect(bodyFaultsOf(address, body)).toBeUndefined();
    const reply = await acme.owner.post(address.split(' ')[1]!, body);
    expect([reply.status, reply.body.data]).toEqual([201, expect.objectContaining(body)]);
    expectPublished(address, reply);
  });

  it('says with them what one looks like', () => {
    const { CreateContactInput, Contact, CreateFormInput } = document.components.schemas as Record<string, { properties: object }>;
    const address = { examples: ['ada@example.com'], description: expect.stringContaining('letters of any script') };
    expect(CreateContactInput!.properties).toMatchObject({ email: address });
    expect(Contact!.properties).toMatchObject({ email: { examples: ['ada@example.com'] } });
    expect(CreateFormInput!.properties).toMatchObject({ redirectUrl: { examples: [expect.stringMatching(/^https:/)] } });
  });
});

describe('the document of a list that may be a text', () => {
  it('allows the forms and null, and answers a list', async () => {
    const { id: contactId } = await acme.contact({ email: 'reader@example.com' });
    const mail = { contactId, channel: 'email', direction: 'outbound', subject: 'Hello', body: 'Hello' };
    for (const [cc, kept] of [
      ['a@example.com, b@example.com', ['a@example.com', 'b@example.com']],
      [['a@example.com'], ['a@example.com']],
      [null, []],
    ]) {
      expect(bodyFaultsOf('POST /messages', { ...mail, cc, bcc: cc })).toBeUndefined();
      const reply = await acme.owner.post('/messages', { ...mail, cc, bcc: cc });
      expect(reply.body.data).toMatchObject({ cc: kept, bcc: kept });
      expectPublished('POST /messages', reply);
    }
    expect(bodyFaultsOf('POST /messages', { ...mail, cc: 5 })).toContain('cc');
  });
});

describe('the document of what must be given', () => {
  const line = 'PUT /settings/vendor-line/lines/{lineId}';
  const publish = 'POST /call-flows/{id}/publish';

  it.each([
    [line, {}, "must have required property 'userId'"],
    [line, { userId: null }, undefined],
    [publish, {}, "must have required property 'expectedUpdatedAt'"],
    [publish, { expectedUpdatedAt: null }, 'must be string'],
    [publish, { expectedUpdatedAt: '2030-01-01T00:00:00.000Z' }, undefined],
  ])('names it, and says whether null is a value of it: %s %j', (address, body, fault) => {
    expect(bodyFaultsOf(address, body)).toEqual(fault && expect.stringContaining(fault));
    expect(operationAt(address).requestBody).toMatchObject({ required: true });
  });
});

describe('the document of what is too little', () => {
  it.each([
    ['POST /auth/register', { accountName: 'x' }],
    ['POST /messages/sms/send', { idempotencyKey: 'abc' }],
    ['POST /invoices', { items: [] }],
    ['PATCH /invoices/{id}', { items: [] }],
    ['POST /contacts/{id}/tags', { tagIds: [] }],
    ['POST /emails/sequences', { steps: [] }],
    ['POST /webhooks/manage', { events: [] }],
    ['POST /webhooks/replay', { deliveryIds: [] }],
    ['POST /email/send-bulk', { contactIds: [] }],
    ['POST /api-keys', { scopes: [] }],
    ['PATCH /api-keys/{id}', { ipAllowlist: [] }],
    ['POST /imports', { rows: [] }],
    ['POST /custom-fields', { fieldKey: '1a' }],
  ])('refuses what the server always does: %s %j', (address, body) => {
    const [field] = Object.keys(body);
    expect(bodyFaultsOf(address, body)).toMatch(new RegExp(`data/${field} must (NOT have fewer than|match pattern)`));
  });
});
