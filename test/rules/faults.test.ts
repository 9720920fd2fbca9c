import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { type Account, dataOf, type Loose, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** The details of a refusal, without their words. */
const told = (reply: Reply): Loose[] => reply.body.details.map(({ message: _, ...detail }: Loose) => detail);

/** A body and what a program is told of it. */
const bodies: [string, object, object][] = [
  ['/tags', {}, { field: 'name', code: 'required' }],
  ['/tags', { name: ' ' }, { field: 'name', code: 'required' }],
  ['/tags', { name: null }, { field: 'name', code: 'required' }],
  ['/tags', { name: 5 }, { field: 'name', code: 'invalid_type' }],
  ['/tags', { name: 'x'.repeat(101) }, { field: 'name', code: 'too_long' }],
  ['/tags', { name: 'x', color: 'red' }, { field: 'color', code: 'invalid_format' }],
  ['/contacts', { email: 'nobody' }, { field: 'email', code: 'invalid_format' }],
  ['/contacts', { firstName: 'Ada', tags: 'vip' }, { field: 'tags', code: 'invalid_type' }],
  ['/contacts', { firstName: 'Ada', tags: Array.from({ length: 101 }, (_, n) => `t${n}`) }, { field: 'tags', code: 'too_many' }],
  ['/contacts', { firstName: 'Ada', companyId: v4() }, { field: 'companyId', code: 'not_found' }],
  ['/contacts', { firstName: 'Ada', customFields: { a: 'x'.repeat(70_000) } }, { field: 'customFields', code: 'too_large' }],
  ['/tasks', { title: 'a', priority: 'soon' }, { field: 'priority', code: 'not_allowed', options: ['low', 'medium', 'high', 'urgent'] }],
  ['/companies', { name: 'a', size: '7' }, { field: 'size', code: 'not_allowed', options: expect.arrayContaining(['1-10']) }],
  ['/bulk/contacts/delete', { ids: [] }, { field: 'ids', code: 'too_few' }],
];

describe('A refusal', () => {
  it.each(bodies)('of POST %s %j says why, field by field, for programs', async (path, body, detail) => {
    expect(told(await acme.owner.post(path, body))).toEqual([detail]);
  });

  it('says so of a query string, under the name that it used', async () => {
    const reply = await acme.owner.get('/contacts?min_score=x&sort=password&created_from=yesterday');
    expect(told(reply)).toEqual([
      { field: 'min_score', code: 'invalid_type' },
      { field: 'sort', code: 'not_allowed', options: expect.arrayContaining(['createdAt', 'leadScore']) },
    ]);
    expect(told(await acme.owner.get('/contacts?created_from=yesterday'))).toEqual([{ field: 'created_from', code: 'invalid_format' }]);
    expect(told(await acme.owner.get('/contacts?page=0'))).toEqual([{ field: 'page', code: 'out_of_range' }]);
  });

  it('says that a value is taken, wrong, or against another one', async () => {
    await acme.owner.post('/tags', { name: 'vip' });
    expect(told(await acme.owner.post('/tags', { name: 'VIP' }))).toEqual([{ field: 'name', code: 'taken' }]);
    const passwords = { currentPassword: 'not it at all', newPassword: 'a new password' };
    expect(told(await acme.owner.post('/auth/change-password', passwords))).toEqual([{ field: 'currentPassword', code: 'incorrect' }]);
    const { id } = await acme.contact();
    expect(told(await acme.owner.post('/contacts/merge', { primaryId: id, secondaryId: id }))).toEqual([
      { field: 'secondaryId', code: 'conflicting' },
    ]);
  });

  it('of a lost deal lists the reasons that would do, in the detail as in the body', async () => {
    const pipeline = await acme.pipeline();
    const stage = dataOf(
      await acme.owner.post(`/pipelines/${pipeline.id}/stages`, { name: 'Lost', isLost: true, lostReasons: ['Price', 'Time'] }),
    );
    const reply = await acme.owner.post('/deals', {
      ...{ title: 'a', pipelineId: pipeline.id, stageId: stage.id },
      lostReason: 'Weather',
    });
    expect(reply.status).toBe(422);
    expect(told(reply)).toEqual([{ field: 'lostReason', code: 'not_allowed', options: ['Price', 'Time'] }]);
    expect(reply.body.options).toEqual(['Price', 'Time']);
  });

  it('says the same through GraphQL', async () => {
    const create = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    const { errors } = await acme.owner.gql(create, { input: { firstName: 'x'.repeat(101), email: 'nobody', nickname: 'a' } });
    expect(errors![0].extensions.details).toEqual([{ field: 'nickname', code: 'unknown_field', message: 'is not a field' }]);
    const { errors: others } = await acme.owner.gql(create, { input: { firstName: 'x'.repeat(101), email: 'nobody' } });
    expect(others![0].extensions).toMatchObject({ code: 'invalid_request', status: 400, field: 'firstName' });
    expect(others![0].extensions.details.map(({ field, code }: Loose) => [field, code])).toEqual([
      ['firstName', 'too_long'],
      ['email', 'invalid_format'],
    ]);
  });
});
