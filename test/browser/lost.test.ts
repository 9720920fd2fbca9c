import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Loose } from '../support/client.js';
import { eventually } from '../support/live.js';
import { Demo } from './demo.js';
import { fill, holding, written } from './fields.js';
import { phone, type Screen } from './screen.js';

let demo: Demo;
let one: Screen;
let other: Screen;
/** The stages of the demo, by their names. */
let stages: Record<string, string>;
beforeAll(async () => {
  demo = await Demo.start();
  [one, other] = [await demo.tab(), await demo.tab()];
  await demo.login(one);
  await one.find('[data-deal]');
  await other.visit('/board');
  await other.find('[data-deal]');
  demo.faults();
  const { pipelines } = await demo.ask('{ pipelines(first: 1) { nodes { stages { id name } } } }');
  stages = Object.fromEntries(pipelines.nodes[0].stages.map(({ id, name }: Loose) => [name, id]));
});
afterAll(() => demo.end());

afterEach(() => {
  expect(demo.faults()).toEqual([]);
});

const topOf = async (screen: Screen, stage: string) =>
  (await screen.shown()).find(({ stageId }) => stageId === stages[stage])?.deals[0]?.split(' ')[0];
const dealOf = async (id: string) => (await demo.ask('query ($id: ID!) { deal(id: $id) { status lostReason } }', { id })).deal;
const isOpen = () => one.page.evaluate(() => Boolean(document.querySelector('dialog[open]')));
const reasons = () => one.page.$$eval('dialog button:not(.plain)', (all) => all.map(({ textContent }) => textContent));

describe('a deal that comes into a stage that asks why it is lost', () => {
  it('is dragged there, and stays with the reason that is chosen', async () => {
    const id = (await topOf(one, 'New'))!;
    await one.drag(id, stages.Lost!);
    await one.find('dialog[open]');
    expect(await reasons()).toEqual(['Price', 'Timing', 'Competitor', 'No answer']);
    for (const scheme of ['light', 'dark']) {
      await one.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await one.picture(`reason-${scheme}`);
    }
    await one.press('Competitor');
    await eventually(async () => (await topOf(other, 'Lost')) === id);
    expect(await dealOf(id)).toEqual({ status: 'lost', lostReason: 'Competitor' });
    expect([await isOpen(), await topOf(one, 'Lost')]).toEqual([false, id]);
  });

  it('is moved there by keys, and goes back with the focus where nobody says why', async () => {
    const { keyboard } = one.page;
    const id = (await topOf(one, 'Won'))!;
    const moveOn = async () => {
      await keyboard.down('Shift');
      await keyboard.press('ArrowRight');
      await keyboard.up('Shift');
      await one.find('dialog[open]');
    };
    await (await one.find(`[data-deal="${id}"]`)).focus();
    await moveOn();
    await keyboard.press('Escape');
    await eventually(async () => !(await isOpen()) && (await topOf(one, 'Won')) === id && (await one.focused()) === id);
    expect((await dealOf(id)).status).toBe('won');
    await moveOn();
    await keyboard.press('Enter');
    await eventually(async () => (await topOf(other, 'Lost')) === id);
    expect([(await dealOf(id)).lostReason, await one.focused()]).toEqual(['Price', id]);
  });

  it('is added there with a reason, in any words where the stage lists none', async () => {
    const free = 'mutation ($id: ID!) { updateStage(id: $id, input: { lostReasons: [] }) { id } }';
    await demo.ask(free, { id: stages.Lost });
    await (await one.find(`[data-stage="${stages.Lost}"] .add input`)).type('Never had a chance\n');
    await (await one.find('dialog input[name=reason]')).type('They have one already\n');
    await other.says('Never had a chance');
    const { deals } = await demo.ask('{ deals(first: 1, filter: { search: "Never had" }) { nodes { status lostReason } } }');
    expect(deals.nodes).toEqual([{ status: 'lost', lostReason: 'They have one already' }]);
    expect(await isOpen()).toBe(false);
  });
});

describe('a deal that is added', () => {
  const countOf = async (title: string) =>
    (await demo.ask('query ($title: String!) { deals(filter: { search: $title }) { totalCount } }', { title })).deals.totalCount;

  it('is there once, however often Enter is pressed and whatever answers are lost', async () => {
    const field = `[data-stage="${stages.New}"] .add input`;
    await holding(one, 'CreateDeal', async (next) => {
      await fill(one, field, 'Pressed thrice');
      for (let n = 0; n < 3; n++) await one.page.keyboard.press('Enter');
      const first = await next();
      // Done by the server, which nobody hears of.
      const reply = await fetch(`${demo.address}/graphql`, {
        method: 'POST',
        headers: { ...first.headers(), cookie: await one.cookie(), origin: demo.address },
        body: first.postData()!,
      });
      expect(((await reply.json()) as Loose).errors).toBeUndefined();
      await first.abort('connectionreset');
      await one.find(`[data-stage="${stages.New}"] > .fault`);
      expect(await written(one, field)).toBe('Pressed thrice');
      await one.page.keyboard.press('Enter');
      await (await next()).continue();
      await eventually(async () => (await written(one, field)) === '');
    });
    expect(await countOf('Pressed thrice')).toBe(1);
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });

  it('keeps what was written where nobody says why it is lost', async () => {
    const field = `[data-stage="${stages.Lost}"] .add input`;
    await fill(one, field, 'Not lost yet');
    await one.page.keyboard.press('Enter');
    await one.find('dialog[open]');
    await one.page.keyboard.press('Escape');
    await eventually(async () => !(await isOpen()));
    // As long as React would take to empty it.
    await one.page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));
    expect([await written(one, field), await countOf('Not lost yet')]).toEqual(['Not lost yet', 0]);
    await fill(one, field, '');
  });
});

describe('a workspace without a pipeline', () => {
  it('gets one by a button, in a page that fits a phone whatever its stages and deals are called', async () => {
    const { person } = await demo.ownerWithoutFactor('empty');
    const third = await demo.tab(true);
    await demo.login(third, person);
    await third.press('Create a pipeline');
    await third.find('[data-stage]');
    expect(await third.page.$$eval('[data-stage]', (all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
      ...['New', 'Qualified', 'Proposal', 'Won', 'Lost'],
    ]);
    // Whether there is a session the page finds out by asking.
    expect(demo.faults()).toEqual([expect.stringContaining('status of 401')]);
    await third.page.setViewport(phone);
    const title = 'x'.repeat(200);
    await (await third.find('.add input')).type(`${title}\n`);
    await third.says(title);
    const spill = () =>
      third.page.evaluate(() => {
        const [card, words] = [document.querySelector('[data-deal]')!, document.querySelector('[data-deal] b')!];
        return [
          card.scrollWidth - card.clientWidth,
          words.scrollWidth - words.clientWidth,
          document.documentElement.scrollWidth - innerWidth,
        ];
      });
    expect(await spill()).toEqual([0, 0, 0]);
    await third.page.close();
  });
});

describe('a deal that is dragged', () => {
  it('is put at the end of a column where the pointer lets go below its cards', async () => {
    const id = (await topOf(one, 'Won'))!;
    const card = await (await one.find(`[data-deal="${id}"] b`)).boundingBox();
    const column = await (await one.find(`[data-stage="${stages.Qualified}"]`)).boundingBox();
    const { mouse } = one.page;
    await mouse.move(card!.x + 20, card!.y + 8);
    await mouse.down();
    await mouse.move(column!.x + 60, column!.y + column!.height - 20, { steps: 8 });
    await mouse.up();
    const lastOf = async (screen: Screen) => (await screen.shown()).find(({ stageId }) => stageId === stages.Qualified)?.deals.at(-1);
    await eventually(async () => (await lastOf(other))?.startsWith(id));
    expect(await one.page.$$eval('[data-held="true"], [data-over="true"]', (all) => all.length)).toBe(0);
  });
});

describe('a dialog for a new contact that is closed before the answer comes', () => {
  it('leaves the page alone to which its reader has gone', async () => {
    await one.visit('/board/contacts');
    await holding(one, 'CreateContact', async (next) => {
      await one.press('New contact');
      await fill(one, 'dialog [name=lastName]', 'Closedearly');
      await one.press('Create contact');
      const sent = await next();
      await one.press('Cancel');
      await eventually(async () => !(await isOpen()));
      await one.page.$eval('header a[href$="/inbox"]', (link) => (link as HTMLElement).click());
      await sent.continue();
      await (await eventually(() => sent.response()))!.text();
      // As long as the page would take to go elsewhere.
      await one.page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));
    });
    const { contacts } = await demo.ask('{ contacts(filter: { search: "Closedearly" }) { totalCount } }');
    expect([contacts.totalCount, await one.page.evaluate(() => location.pathname)]).toEqual([1, '/board/inbox']);
  });
});
