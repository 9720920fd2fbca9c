import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Loose } from '../support/client.js';
import { eventually } from '../support/live.js';
import { Demo } from './demo.js';
import { holding } from './fields.js';
import { desktop, phone, pictures, type Screen, type Shown } from './screen.js';

let demo: Demo;
let one: Screen;
let other: Screen;
beforeAll(async () => {
  demo = await Demo.start();
  one = await demo.tab();
  other = await demo.tab();
});
afterAll(async () => {
  await demo.end();
  process.stdout.write(`The pictures of this run: ${pictures}\n`);
});

/** Every play ends without an error in a console, of the policy or of ours; those that it expects it has taken. */
afterEach(() => {
  expect(demo.faults()).toEqual([]);
});

/** Waits until a tab shows the board as it is kept, and answers it. */
async function isRight(screen: Screen): Promise<Shown> {
  const kept = await demo.board();
  const isSame = async () => JSON.stringify(await screen.shown()) === JSON.stringify(kept);
  await eventually(isSame, 8000).catch(async () => expect(await screen.shown()).toEqual(kept));
  return kept;
}

const idOf = (deal: string) => deal.split(' ')[0]!;
const topOf = async (screen: Screen, stageId: string) => (await screen.shown()).find((column) => column.stageId === stageId)?.deals[0];

describe('the board in a browser', () => {
  it('is reached by the login of the demo, and shows its deals in both tabs', async () => {
    await demo.login(one);
    await one.find('[data-deal]');
    await other.visit('/board');
    const shown = await isRight(one);
    expect(shown.flatMap(({ deals }) => deals)).toHaveLength(12);
    expect(await isRight(other)).toEqual(shown);
    // Whether there is a session the page finds out by asking.
    expect(demo.faults()).toEqual([expect.stringContaining('status of 401')]);
  });

  it('shows a card that is dragged in one tab where it was put in the other', async () => {
    const [from, to] = await one.shown();
    const deal = from!.deals.at(-1)!;
    await one.drag(idOf(deal), to!.stageId);
    await eventually(async () => (await topOf(other, to!.stageId)) === deal, 5000);
    expect(await isRight(one)).toEqual(await isRight(other));
  });
});

describe('the board by keys alone', () => {
  it('has one stop of Tab at the cards of a column', async () => {
    const { page } = one;
    const [first, second] = await one.shown();
    await (await one.find(`[data-deal="${idOf(first!.deals[0]!)}"]`)).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement!.getAttribute('aria-label'))).toBe('Add a deal');
    await page.keyboard.press('Tab');
    expect(await one.focused()).toBe(idOf(second!.deals[0]!));
  });

  it('is gone through and changed', async () => {
    const { page } = one;
    const [first, second] = await one.shown();
    const deal = second!.deals[0]!;
    await (await one.find(`[data-deal="${idOf(first!.deals[0]!)}"]`)).focus();
    await page.keyboard.press('ArrowRight');
    expect(await one.focused()).toBe(idOf(deal));
    await page.keyboard.down('Shift');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.up('Shift');
    await eventually(async () => (await topOf(other, first!.stageId)) === deal, 5000);
    expect(await one.focused()).toBe(idOf(deal));
    await isRight(one);
    await page.keyboard.press('Enter');
    await one.find('.person h1');
    await page.keyboard.press('/');
    await one.find('.people a');
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).type)).toBe('search');
  });
});

describe('a card that is moved faster than the server answers', () => {
  it('is sent one place at a time, and from the places that wait only to the newest', async () => {
    await one.visit('/board');
    const [first, second, , fourth] = await isRight(one);
    const deal = first!.deals[0]!;
    const { keyboard } = one.page;
    const isAt = async ({ stageId }: { stageId: string }) =>
      (await one.shown()).find((column) => column.stageId === stageId)!.deals.includes(deal);
    await (await one.find(`[data-deal="${idOf(deal)}"]`)).focus();
    await holding(one, 'MoveDeal', async (next) => {
      await keyboard.down('Shift');
      const go = async (key: 'ArrowLeft' | 'ArrowRight') => {
        await keyboard.press(key);
        await eventually(async () => (await one.focused()) === idOf(deal));
      };
      for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight'] as const) await go(key);
      const sent = await next();
      expect(sent.postData()).toContain(second!.stageId);
      await sent.continue();
      const newest = await next();
      expect(newest.postData()).toContain(fourth!.stageId);
      // Back to where it was while that is on its way: it stays there, though it had been there before.
      for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft'] as const) await go(key);
      await newest.continue();
      const back = await next();
      expect([back.postData()!.includes(first!.stageId), await isAt(first!)]).toEqual([true, true]);
      await back.continue();
      await keyboard.up('Shift');
    });
    await eventually(async () => (await demo.board())[0]!.deals.includes(deal));
    await isRight(one);
  });
});

describe('the contacts in a browser', () => {
  it('finds contacts while somebody types, and goes on with the list where it ends', async () => {
    const rows = () => one.page.$$eval('.people li', (all) => all.length);
    await one.visit('/board/contacts');
    await (await one.find('input[type=search]')).focus();
    await eventually(async () => (await rows()) === 50);
    await one.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await eventually(async () => (await rows()) === 60);
    const newest = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    await demo.ask(newest, { input: { firstName: 'Pushes', lastName: 'The Others Down' } });
    await eventually(async () => (await rows()) === 61);
    const links = await one.page.$$eval('.people a', (all) => all.map((link) => link.getAttribute('href')));
    expect(new Set(links).size).toBe(61);
    const { contacts } = await demo.ask('{ contacts(filter: { search: "ann" }) { totalCount nodes { name } } }');
    expect(contacts.totalCount).toBeGreaterThan(0);
    await one.page.keyboard.type('ann');
    await eventually(async () => (await rows()) === contacts.totalCount);
    await one.says(contacts.nodes[0].name);
    await demo.ask(newest, { input: { firstName: 'Annika', lastName: 'Newcomer' } });
    await one.says('Annika Newcomer');
  });
});

describe('the stages of the board', () => {
  it('come and go while it is open, with the deals that are moved there', async () => {
    await one.visit('/board');
    const kept = await demo.board();
    const deal = idOf(kept[0]!.deals[0]!);
    const { pipelines } = await demo.ask('{ pipelines(first: 1) { nodes { id } } }');
    const make = 'mutation ($id: ID!) { createStage(pipelineId: $id, input: { name: "Meanwhile" }) { id } }';
    const { createStage } = await demo.ask(make, { id: pipelines.nodes[0].id });
    const move = 'mutation ($id: ID!, $to: ID!) { moveDeal(id: $id, stageId: $to) { id } }';
    await demo.ask(move, { id: deal, to: createStage.id });
    expect((await isRight(one)).find(({ stageId }) => stageId === createStage.id)?.deals.map(idOf)).toEqual([deal]);
    await isRight(other);
    await demo.ask(move, { id: deal, to: kept[0]!.stageId });
    await demo.ask('mutation ($id: ID!) { deleteStage(id: $id) { deletedId } }', { id: createStage.id });
    await isRight(one);
  });
});

describe('a cut of the connection', () => {
  it('leaves the screen right without a refetch, whatever happened meanwhile', async () => {
    const before = await isRight(other);
    const state = () => other.page.$eval('.line', (mark) => mark.getAttribute('data-up'));
    await eventually(async () => (await state()) === 'true');
    other.asked.splice(0);
    other.heard.splice(0);
    // No 30 seconds: the rest of them would only be waited for.
    demo.line.refuse();
    try {
      await eventually(async () => (await state()) === 'false');
      await demo.change();
      expect(await other.shown()).toEqual(before);
    } finally {
      demo.line.heal();
    }
    const after = await isRight(other);
    expect(after.flatMap(({ deals }) => deals).filter((deal) => /Renamed|While it was cut/.test(deal)).length).toBeGreaterThan(10);
    expect(await state()).toBe('true');
    expect(other.asked).toEqual([]);
    const lists = other.heard.map((text) => (JSON.parse(text) as Loose).payload?.data?.live?.deals).filter(Boolean);
    expect([lists.length > 0, lists.some(({ isWhole }) => isWhole)]).toEqual([true, false]);
    expect(demo.faults().filter((fault) => !/WebSocket connection to .* failed/.test(fault))).toEqual([]);
  });
});

describe('the pages beside it', () => {
  it('show what a contact writes at once, and note that it was read', async () => {
    const { contacts } = await demo.ask('{ contacts(first: 1, filter: { search: "Annika" }) { nodes { id } } }');
    const [{ id: contactId }] = contacts.nodes;
    await one.visit('/board/inbox');
    await one.find('[data-conversation]');
    await demo.rest('POST', '/messages', { contactId, channel: 'sms', direction: 'inbound', body: 'Is anybody there?' });
    const row = await one.find(`[data-conversation="${contactId}"][data-unread="true"]`);
    await one.says('Is anybody there?');
    await row.$eval('a', (link) => link.click());
    await one.find('.talk [data-from="inbound"]');
    await one.find(`[data-conversation="${contactId}"][data-unread="false"]`);
    const { conversations } = await demo.ask('{ conversations(first: 1) { nodes { unreadCount } } }');
    expect(conversations.nodes[0].unreadCount).toBe(0);
  });

  it('show a contact with tasks and notes that are kept and seen elsewhere', async () => {
    const { contacts } = await demo.ask('{ contacts(first: 1, filter: { search: "Annika" }) { nodes { id } } }');
    for (const screen of [one, other]) await screen.visit(`/board/contacts/${contacts.nodes[0].id}`);
    await (await one.find('input[aria-label="Add a task"]')).type('Send the contract\n');
    await (await one.find('input[aria-label="Add a note"]')).type('Prefers the telephone\n');
    await other.says('Send the contract');
    await other.says('Prefers the telephone');
    await (await other.find('.small-list input[type=checkbox]:not(:checked)')).click();
    await one.find('.small-list input[type=checkbox]:checked');
  });

  it('show the week, and what is booked in it', async () => {
    for (const screen of [one, other]) await screen.visit('/board/calendar');
    await (await one.find('.book input[name=title]')).type('Lunch with Ada');
    await one.page.$eval('.book input[name=at]', (field) => {
      const noon = new Date();
      noon.setHours(12, 0, 0, 0);
      (field as HTMLInputElement).value = new Date(noon.getTime() - noon.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    });
    await (await one.find('.book button')).click();
    await other.says('Lunch with Ada');
    await other.find('.day[data-today="true"] .booked');
  });

  it('show a call while it lasts', async () => {
    const to = await demo.number();
    await one.visit('/board/calls');
    await one.says('Nobody is on the line.');
    const form = { CallSid: 'CAbrowser', From: '+14155550123', To: to, CallStatus: 'ringing' };
    expect(await demo.callNotice('/webhooks/twilio/voice', form)).toBe(200);
    await one.find('[data-live-calls] [data-status="ringing"]');
    await one.picture('live-call');
    await demo.callNotice('/webhooks/twilio/voice/status', { ...form, CallStatus: 'completed', CallDuration: '42' });
    await one.says('Nobody is on the line.');
    await one.says('0:42');
  });
});

describe('the pages', () => {
  it.each([
    ['desktop', desktop],
    ['phone', phone],
  ] as const)('fit a %s, light and dark', async (name, viewport) => {
    const { page } = one;
    await page.setViewport(viewport);
    const { conversations } = await demo.ask('{ conversations(first: 3) { nodes { contactId } } }');
    const { contactId } = conversations.nodes.at(-1);
    const paths = ['', '/contacts', `/contacts/${contactId}`, '/inbox', `/inbox/${contactId}`, '/calendar', '/calls'];
    for (const path of paths) {
      await one.visit(`/board${path}`);
      await one.find('.card, .people li, .person h1, .booked');
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await one.picture(`${path.replace(contactId, 'one').replaceAll('/', '.').slice(1) || 'deals'}-${name}-${scheme}`);
      }
      // Nothing makes a page wider than its window.
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)]).toEqual([path, true]);
    }
  });
});

describe('the reference of the REST API', () => {
  it('sends what somebody tries out, with the session of the browser', async () => {
    const { page } = one;
    await page.setViewport(desktop);
    // Its requests go to the public address, so it is visited there.
    await one.visit(`${demo.address}/docs#tag/contacts/GET/contacts`);
    await one.press('(get /contacts)');
    // Sent before that, it would go with an empty key.
    await page.waitForFunction(() => [...document.querySelectorAll('[role=dialog]')].some((one) => one.textContent.includes('HttpOnly')));
    const [answer] = await Promise.all([
      page.waitForResponse((response) => new URL(response.url()).pathname === '/api/v1/contacts'),
      one.press('Send get request'),
    ]);
    expect(answer.status()).toBe(200);
    await one.picture('docs');
  });
});
