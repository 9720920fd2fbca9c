import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, type Loose, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const fields = [{ key: 'name' }, { key: 'email', type: 'email', required: true }, { key: 'tel', type: 'phone' }];
const aForm = async (more: object = {}): Promise<Loose> => dataOf(await acme.owner.post('/forms', { name: 'Ask us', fields, ...more }));
const asking = (text: string | null) => ({ settings: { consent: { required: false, text } } });
const edit = async (id: string, changes: object) => dataOf(await acme.owner.patch(`/forms/${id}`, changes));
const kept = async (id: string): Promise<Loose[]> => dataOf(await acme.owner.get(`/forms/${id}/submissions`)).data;

const show = (id: string) => api.anybody().raw({ path: `/f/${id}` });
const headers = { 'content-type': 'application/x-www-form-urlencoded' };
const send = (id: string, said: Record<string, string>) =>
  api.anybody().raw({ method: 'POST', path: `/f/${id}`, headers, payload: new URLSearchParams(said).toString() });

describe('the page of a form that was edited since it was shown', () => {
  const said = { 'data.name': 'Ada Lovelace', 'data.email': 'edited@example.com', 'data.tel': '', consent: 'true', _hp_field: '' };
  const sentBy = ({ text }: Reply): Record<string, string> => {
    const [asked, once] = ['<input type="hidden" name="_asked"', '<button name="_once"'].map((tag) => text.split(`${tag} value="`)[1]);
    return { ...said, _asked: asked!.split('"')[0]!, _once: once!.split('"')[0]! };
  };

  it('asks for the agreement anew, and keeps nothing until then', async () => {
    const { id } = await aForm(asking('You send news'));
    const filled = sentBy(await show(id));
    for (const changes of [{ settings: {} }, asking(null), asking('You tell others')]) {
      await edit(id, changes);
      for (const email of ['edited@example.com', 'nobody']) {
        const refused = await expectNothingWritten(api, () => send(id, { ...filled, 'data.email': email }));
        expect(refused.status).toBe(400);
        expect(refused.text).toContain('What you agree to has changed since this page was shown to you.');
        expect(refused.text).toContain('value="Ada Lovelace"');
        expect(refused.text).not.toContain(' checked');
      }
    }
    const refused = await send(id, { ...sentBy(await show(id)), 'data.email': 'nobody' });
    expect(refused.text).toContain('checked> You tell others');
    expect((await send(id, sentBy(refused))).status).toBe(200);
    expect(await kept(id)).toMatchObject([{ consent: { given: true, text: 'You tell others' } }]);
  });

  it('says what it does not ask for any more, and repeats what was filled in there', async () => {
    const { id } = await aForm();
    const filled = { ...sentBy(await show(id)), 'data.tel': '+14155550123' };
    await edit(id, { fields: fields.map((field) => (field.key === 'tel' ? { ...field, key: 'mobile' } : field)) });
    const refused = await expectNothingWritten(api, () => send(id, filled));
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('This is not asked for any more:\ntel: +14155550123</p>');
    for (const now of [
      { ...filled, 'data.tel': ' ' },
      { ...sentBy(refused), 'data.mobile': '+14155550123', 'data.other': 'x' },
    ])
      expect((await send(id, now)).status).toBe(200);
    const data = { name: 'Ada Lovelace', email: 'edited@example.com', mobile: '+14155550123' };
    expect((await kept(id)).map((submission) => submission.data)).toContainEqual(data);
  });

  it("thanks for what was kept before, and takes HTML of somebody's own as it is now", async () => {
    const { id } = await aForm(asking('You send news'));
    const filled = sentBy(await show(id));
    expect((await send(id, filled)).status).toBe(200);
    await edit(id, asking('You tell others'));
    expect((await send(id, filled)).status).toBe(200);
    expect(await kept(id)).toHaveLength(1);
    expect((await send(id, { ...said, 'data.other': 'x' })).status).toBe(200);
    expect((await kept(id)).map(({ consent }) => consent.text).sort()).toEqual(['You send news', 'You tell others']);
  });
});
