import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account({ name: 'Acme & Sons' });
});
afterAll(() => api.close());

let readers = 0;
const reader = async (fields: Loose = {}) => acme.contact({ email: `many${++readers}@example.com`, ...fields });
const send = (body: Loose) => acme.owner.post('/email/send-bulk', { subject: 'News for {{contact.firstName}}', body: 'Hello', ...body });
const page = '<html><body><p>Hi {{contact.firstName}}, see <a href="https://example.com/a?x=1&amp;y=2">this</a></p></body></html>';

/** The mail that one reader gets. */
async function mailed(fields: Loose = {}, body: Loose = {}) {
  const contact = await reader(fields);
  dataOf(await send({ contactIds: [contact.id], bodyHtml: page, ...body }));
  const mail = await eventually(async () => (await mailsTo(api, contact.email))[0]);
  return { contact, mail };
}

const fetched = (url: string, method: 'GET' | 'POST' = 'GET') =>
  api.anybody().raw({ method, path: url.slice(api.app.config.publicUrl.length).replaceAll('&amp;', '&').replaceAll('&#39;', "'") });
const linkIn = (html: string, kind: string) => new RegExp(`http[^"'\\s]*/e/${kind}/[^"'\\s]*`).exec(html)![0];
const messageOf = async (contactId: string) => dataOf(await acme.owner.get(`/messages?contact_id=${contactId}`)).data[0];

describe('POST /email/send-bulk', () => {
  it('writes to each with their own values, and says who was skipped and why', async () => {
    const ann = await reader({ firstName: 'Ann' });
    const bob = await reader({ firstName: 'Bob {{contact.email}}' });
    const silent = await reader({ doNotContact: true });
    const nowhere = await acme.contact({ firstName: 'Nowhere' });
    const contactIds = [ann.id, bob.id, silent.id, nowhere.id, v4(), ann.id];
    const { results, ...counts } = dataOf(
      await send({ contactIds, body: 'Dear {{ contact.firstName }} of {{workspace.name}}{{contact.nothing}}' }),
    );
    expect(counts).toEqual({ total: 6, sent: 2, skipped: 4, failed: 0 });
    expect(results.map((r: Loose) => r.reason)).toEqual([null, null, 'do_not_contact', 'no_email', 'not_found', 'duplicate']);
    const toAnn = await eventually(async () => (await mailsTo(api, ann.email))[0]);
    expect(toAnn).toMatchObject({ subject: 'News for Ann', body: expect.stringContaining('Dear Ann of Acme & Sons\n') });
    const toBob = await eventually(async () => (await mailsTo(api, bob.email))[0]);
    expect(toBob.body).toContain('Dear Bob {{contact.email}} of');
    expect(await mailsTo(api, silent.email)).toEqual([]);
  });

  it('names what is wrong', async () => {
    const { id } = await reader();
    await expectNothingWritten(api, async () => {
      expectRefusal(await send({ contactIds: [id], body: undefined }), 400, 'body');
      expectRefusal(await send({ contactIds: id }), 400, 'contactIds');
      expectRefusal(await send({ contactIds: Array.from({ length: 101 }, () => v4()) }), 400, 'contactIds');
      expectRefusal(await send({ contactIds: [] }), 400, 'contactIds');
    });
  });

  it('knows own fields alone, and a value that looks like one stays text', async () => {
    const body =
      '[{{contact.__proto__}}{{contact.constructor.name}}{{workspace.__proto__.x}}{{contact.nothing}}] {{contact.firstName}} {{__proto__}}';
    const { mail } = await mailed({ firstName: '{{contact.email}}' }, { subject: 'Hi', body });
    expect(mail.body).toContain('[] {{contact.email}} {{__proto__}}');
  });

  it('escapes values in HTML, and keeps a subject on one line', async () => {
    const { mail } = await mailed({ firstName: '<img onerror=x>\r\nBcc: a@example.com' }, { subject: 'Hi {{contact.firstName}}' });
    expect(mail.html).toContain('Hi &lt;img onerror=x&gt;');
    expect(mail.subject).not.toMatch(/[\r\n]/);
  });
});

describe('large mails to many', () => {
  it('refuses what becomes larger than 500 KB by the values of its merge fields', async () => {
    const { id } = await reader({ firstName: 'Ann', customFields: { note: `<${'x'.repeat(60_000)}` } });
    const many = '{{contact.customFields.note}}'.repeat(10);
    await expectNothingWritten(api, async () => {
      expectRefusal(await send({ contactIds: [id], body: many }), 400, 'body');
      expectRefusal(await send({ contactIds: [id], bodyHtml: many }), 400, 'bodyHtml');
    });
    const { sent } = dataOf(await send({ contactIds: [id], subject: many, body: many.slice(0, many.length / 2) }));
    expect(sent).toBe(1);
    const { subject, body } = await messageOf(id);
    expect([subject.length, Buffer.byteLength(body)]).toEqual([500, 5 * 60_001]);
  });

  it('holds nobody up while very many merge fields are filled in', async () => {
    const contacts = await Promise.all(Array.from({ length: 30 }, () => reader()));
    const delay = monitorEventLoopDelay();
    delay.enable();
    const contactIds = contacts.map(({ id }) => id);
    const { failed } = dataOf(await send({ contactIds, body: '{{ab}}'.repeat(80_000), bodyHtml: '{{contact.zip}}'.repeat(30_000) }));
    delay.disable();
    expect(failed).toBe(30);
    expect(delay.max / 1e6).toBeLessThan(1500);
  });

  it('keeps many large mails in several statements, all or none of them', async () => {
    const contacts = await Promise.all(Array.from({ length: 6 }, () => reader({ customFields: { note: 'x'.repeat(50_000) } })));
    const contactIds = contacts.map(({ id }) => id);
    const refused = await reader({ customFields: { note: 'x'.repeat(60_000) } });
    const body = '{{contact.customFields.note}}'.repeat(10);
    await expectNothingWritten(api, async () => {
      expectRefusal(await send({ contactIds: [...contactIds, refused.id], body, bodyHtml: body }), 400, 'body');
    });
    expect(dataOf(await send({ contactIds, body, bodyHtml: body })).sent).toBe(6);
    for (const id of contactIds) expect((await messageOf(id)).body.length).toBe(500_000);
  });
});

describe('a mail to many', () => {
  it('tells when it was opened and which link was followed, once', async () => {
    const { contact, mail } = await mailed();
    const pixel = await fetched(linkIn(mail.html, 'open'));
    expect([pixel.status, pixel.headers['content-type']]).toEqual([200, 'image/gif']);
    const { openedAt } = await messageOf(contact.id);
    expect(openedAt).not.toBeNull();
    const followed = await fetched(linkIn(mail.html, 'click'));
    expect([followed.status, followed.headers.location]).toEqual([302, 'https://example.com/a?x=1&y=2']);
    await fetched(linkIn(mail.html, 'open'));
    expect(await messageOf(contact.id)).toMatchObject({ openedAt, clickedAt: expect.any(String) });
  });

  it('unsubscribes by POST, in one click, and never by looking', async () => {
    const { contact, mail } = await mailed();
    const link = /<(.*)>/.exec(mail.headers['List-Unsubscribe'])![1]!;
    expect(mail.headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
    expect((await fetched(link)).status).toBe(200);
    const optedOut = async () => dataOf(await acme.owner.get(`/contacts/${contact.id}`)).optedOutEmail;
    expect(await optedOut()).toBe(false);
    expect((await fetched(link, 'POST')).status).toBe(200);
    expect(await optedOut()).toBe(true);
    expect(dataOf(await send({ contactIds: [contact.id] })).results).toMatchObject([{ status: 'skipped', reason: 'recipient_opted_out' }]);
  });

  it('unsubscribes whoever has its address, under any other contact as well', async () => {
    const { contact, mail } = await mailed();
    const shared = contact.email.toUpperCase();
    const [other, deleted] = [await acme.contact({ email: shared }), await acme.contact({ email: shared })];
    const stranger = await reader();
    dataOf(await acme.owner.del(`/contacts/${deleted.id}`));
    expect((await fetched(/<(.*)>/.exec(mail.headers['List-Unsubscribe'])![1]!, 'POST')).status).toBe(200);
    dataOf(await acme.owner.post(`/contacts/${deleted.id}/restore`));
    const optedOut = async ({ id }: Loose) => dataOf(await acme.owner.get(`/contacts/${id}`)).optedOutEmail;
    expect(await Promise.all([contact, other, deleted, stranger].map(optedOut))).toEqual([true, true, true, false]);
  });

  it('leads nowhere but where it was written to', async () => {
    const { contact, mail } = await mailed();
    const click = linkIn(mail.html, 'click').replaceAll('&amp;', '&');
    const forged = [
      click.replace(/to=.*/, 'to=https%3A%2F%2Fevil.example'),
      click.replace('/e/click/', '/e/unsubscribe/'),
      click.replace(/click\/(.{60})(.)/, (_all, start, last) => `click/${start}${last === 'a' ? 'b' : 'a'}`),
      `${api.app.config.publicUrl}/e/open/x.y`,
    ];
    await expectNothingWritten(api, async () => {
      for (const link of forged) expect((await fetched(link)).status).toBe(404);
    });
    expect((await messageOf(contact.id)).clickedAt).toBeNull();
  });
});

describe('a mail to many, whatever is in it,', () => {
  it('leads on to addresses in any letters, and with values that HTML escapes', async () => {
    const links =
      '<a href="https://example.com/日本">1</a><a href="https://example.com/?n={{contact.firstName}}.{{contact.lastName}}">2</a>';
    const { mail } = await mailed({ firstName: 'Łukasz', lastName: "O'Brien" }, { bodyHtml: links });
    const hrefs = [...mail.html.matchAll(/http[^"'\s]*\/e\/click\/[^"'\s]*/g)].map(([href]) => href as string);
    const followed = await Promise.all(hrefs.map((href) => fetched(href)));
    expect(followed.map(({ status, headers }) => [status, headers.location])).toEqual([
      [302, 'https://example.com/%E6%97%A5%E6%9C%AC'],
      [302, 'https://example.com/?n=%C5%81ukasz.O%27Brien'],
    ]);
  });

  it('of text alone carries the same in the HTML of its text', async () => {
    const body = 'Dear {{contact.firstName}},\nsee https://example.com/a?x=1&y=2.';
    const { mail } = await mailed({ firstName: '<b>Ann' }, { bodyHtml: undefined, body });
    expect(mail.html).toMatch(/^<p>Dear &lt;b&gt;Ann,<br>\nsee <a href="[^"]+">https:\/\/example.com\/a\?x=1&amp;y=2<\/a>\.<\/p>/);
    expect((await fetched(linkIn(mail.html, 'click'))).headers.location).toBe('https://example.com/a?x=1&y=2');
    expect((await fetched(linkIn(mail.html, 'open'))).status).toBe(200);
    expect(mail.body).toContain('Dear <b>Ann,\nsee https://example.com/a?x=1&y=2.');
  });

  it('of which the HTML is left unfinished goes out at once', async () => {
    const begun = Date.now();
    const { mail } = await mailed({}, { bodyHtml: '<a '.repeat(160_000) });
    expect(mail.html).toContain('/e/open/');
    expect(Date.now() - begun).toBeLessThan(3000);
  });

  it('leads to the first thousand addresses over us, and straight to the others', async () => {
    const to = (nth: number) => `<a href="https://example.com/${nth}">x</a>`;
    const { mail } = await mailed({}, { bodyHtml: Array.from({ length: 1500 }, (_, nth) => to(nth)).join('') + to(7) });
    const hrefs = [...mail.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href as string);
    const isOverUs = hrefs.map((href) => href.includes('/e/click/'));
    expect(isOverUs.slice(0, 1501)).toEqual([...Array(1000).fill(true), ...Array(500).fill(false), true]);
    expect([hrefs[1000], hrefs[1500]]).toEqual(['https://example.com/1000', hrefs[7]]);
    expect((await fetched(hrefs[999]!)).headers.location).toBe('https://example.com/999');
  });

  it('is answered by those who were deleted meanwhile: restored, they stay unsubscribed', async () => {
    const { contact, mail } = await mailed();
    dataOf(await acme.owner.del(`/contacts/${contact.id}`));
    expect((await fetched(/<(.*)>/.exec(mail.headers['List-Unsubscribe'])![1]!, 'POST')).status).toBe(200);
    expect(dataOf(await acme.owner.post(`/contacts/${contact.id}/restore`)).optedOutEmail).toBe(true);
    expect(dataOf(await send({ contactIds: [contact.id] })).results).toMatchObject([{ reason: 'recipient_opted_out' }]);
  });
});

describe('a mail to many with half of a character in the address of a link', () => {
  it('goes, and leads on with the replacement character in its place, as a browser does', async () => {
    const bodyHtml = '<a href="https://example.com/?q=&#xD83D;">1</a><a href="https://example.com/?q=&#55357;&#56832;">2</a>';
    const { contact, mail } = await mailed({}, { bodyHtml });
    const hrefs = [...mail.html.matchAll(/http[^"'\s]*\/e\/click\/[^"'\s]*/g)].map(([href]) => href as string);
    const followed = await Promise.all(hrefs.map((href) => fetched(href)));
    expect(followed.map(({ status, headers }) => [status, headers.location])).toEqual([
      [302, 'https://example.com/?q=%EF%BF%BD'],
      [302, 'https://example.com/?q=%F0%9F%98%80'],
    ]);
    await eventually(async () => (await messageOf(contact.id)).status === 'sent');
  });
});

describe('a mail of merge fields', () => {
  it('takes one name alone as a field of the contact, which its template tells, and shows no other as it is written', async () => {
    const template = {
      name: 'Names',
      channel: 'email',
      subject: 'For {{ firstName }}',
      body: '[{{firstName}}{{nothing}}] {{contact.email}}',
    };
    const made = dataOf(await acme.owner.post('/emails/templates', template));
    expect(made.mergeFields).toEqual(['contact.firstName', 'contact.nothing', 'contact.email']);
    const { contact, mail } = await mailed({ firstName: 'Ann' }, { ...template, bodyHtml: '<p>{{firstName}}{{nothing}} {x} {{ 1 }}</p>' });
    expect(mail).toMatchObject({ subject: 'For Ann', body: expect.stringContaining(`[Ann] ${contact.email}`) });
    expect(mail.html).toContain('<p>Ann {x} {{ 1 }}</p>');
  });

  it('goes to nobody of whom they make nothing, and says so', async () => {
    const [{ id: ann }, { id: nobody }] = [await reader({ firstName: 'Ann' }), await reader()];
    const results = async (body: Loose) => {
      const { sent, skipped, failed, results: all } = dataOf(await send({ contactIds: [nobody, ann], ...body }));
      expect([sent, skipped, failed]).toEqual([1, 0, 1]);
      return all.map(({ status, reason }: Loose) => [status, reason]);
    };
    expect(await results({ subject: ' {{contact.firstName}} ' })).toEqual([
      ['failed', 'empty_subject'],
      ['queued', null],
    ]);
    expect(await results({ body: '{{contact.firstName}}' })).toEqual([
      ['failed', 'empty_body'],
      ['queued', null],
    ]);
    expect(dataOf(await send({ contactIds: [nobody], subject: undefined, body: '{{firstName}}', bodyHtml: '<p>Hi</p>' })).sent).toBe(1);
    expect(await messageOf(nobody)).toMatchObject({ body: '', bodyHtml: '<p>Hi</p>' });
  });

  it('goes to an address once, whoever has it', async () => {
    const [first, second] = [await reader(), await reader()];
    const shared = await acme.contact({ email: first.email.toUpperCase() });
    const { sent, results } = dataOf(await send({ contactIds: [first.id, shared.id, second.id] }));
    expect(sent).toBe(2);
    expect(results.map(({ status, reason }: Loose) => [status, reason])).toEqual([
      ['queued', null],
      ['skipped', 'duplicate'],
      ['queued', null],
    ]);
    await eventually(async () => (await mailsTo(api, second.email)).length === 1);
    const named = await acme.contact({ email: second.email, firstName: 'Ann' });
    const toNamed = dataOf(await send({ contactIds: [second.id, named.id], body: '{{firstName}}' })).results;
    expect(toNamed.map(({ status, reason }: Loose) => [status, reason])).toEqual([
      ['failed', 'empty_body'],
      ['queued', null],
    ]);
    expect([...(await mailsTo(api, first.email)), ...(await mailsTo(api, shared.email))]).toHaveLength(1);
  });
});
