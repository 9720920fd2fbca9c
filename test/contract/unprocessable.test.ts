import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  basePath,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const sent = (method: string, path: string, payload: string) => {
  const headers = { 'content-type': 'application/json', 'content-length': String(payload.length) };
  return acme.owner.raw({ method: method as 'POST', path: basePath + path, headers, payload });
};

/** Rows of which the contract names 422 and no 400, each with a good body and values that its fields cannot take. */
const rows: [string, string, string, Record<string, unknown>, [string, unknown][]][] = [
  [
    ...(['POST', '/users/invite', 'inviteUser'] as const),
    { email: 'good@example.com' },
    [
      ...([undefined, null, '', 'bad', 'a@b', 5, ['a@example.com']] as unknown[]).map((value): [string, unknown] => ['email', value]),
      ...(['', ' ', 'viewer', 'owner', 'Admin', 'x'.repeat(21), 5, ['member']] as unknown[]).map((value): [string, unknown] => [
        'role',
        value,
      ]),
      ['firstName', 'x'.repeat(101)],
      ['permissions', ['x']],
    ],
  ],
  [
    ...(['POST', '/custom-fields', 'createCustomField'] as const),
    { entityType: 'contact', fieldKey: 'fresh', label: 'Fresh', fieldType: 'text' },
    [
      ['label', 'x'.repeat(201)],
      ['label', ' '],
      ['label', undefined],
      ['fieldKey', 'x'.repeat(65)],
      ['section', 'x'.repeat(121)],
      ['sortOrder', 100_001],
      ['sortOrder', 'many'],
      ['entityType', 'invoice'],
    ],
  ],
];

describe.each(rows)('%s %s', (method, path, operation, good, bad) => {
  it('answers 422 to whatever is wrong with a field, and names it', async () => {
    await expectNothingWritten(api, async () => {
      for (const [name, value] of bad) expectRefusal(await acme.owner.send(method, path, { ...good, [name]: value }), 422, name);
    });
  });

  it('answers the same through GraphQL, where what has another type is 400 as everywhere', async () => {
    const type = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Input`;
    const document = `mutation ($input: ${type}!) { ${operation}(input: $input) { id } }`;
    const isText = (value: unknown) => typeof value === 'string';
    await expectNothingWritten(api, async () => {
      for (const [name, value] of bad) {
        const isWord = name === 'entityType' || name === 'role';
        const isTyped = isText(value) === isText(good[name] ?? '') && !isWord && name !== 'sortOrder';
        const reply = await acme.owner.gql(document, { input: { ...good, [name]: value } });
        expectGraphQLRefusal(reply, isTyped || value === 100_001 ? 422 : 400, name);
      }
    });
  });
});

it('An invitation without a role, or with null, makes a member', async () => {
  for (const role of [undefined, null]) {
    const user = dataOf(await acme.owner.post('/users/invite', { email: `role-${role}@example.com`, role }));
    expect(user).toMatchObject({ role: 'member', status: 'invited' });
  }
});

describe('a body that is JSON and no object', () => {
  it('is 400 everywhere, as one that is no JSON', async () => {
    const rows = [
      ['POST', '/forms'],
      ['PATCH', `/forms/${v4()}`],
      ['POST', '/emails/sequences'],
      ['POST', `/emails/sequences/${v4()}/enroll`],
      ['PUT', '/settings/vendor-line'],
      ['POST', '/users/invite'],
      ['POST', '/contacts'],
    ] as const;
    await expectNothingWritten(api, async () => {
      for (const [method, path] of rows)
        for (const payload of ['[]', '"x"', '5', '{"half":'])
          expect([method, path, payload, (await sent(method, path, payload)).status]).toEqual([method, path, payload, 400]);
    });
  });
});
