import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Loose } from '../support/client.js';
import { eventually } from '../support/live.js';
import { demo, onBoard, one } from './board.js';
import type { Screen } from './screen.js';

// A workspace of more records than a page of each list has.
onBoard();

const countOf = (selector: string) => one.page.$$eval(selector, (all) => all.length);

async function times(count: number, make: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n += 10) await Promise.all(Array.from({ length: 10 }, (_, i) => make(n + i)));
}

/** Runs a mutation with the input of each of some things, twenty in a request. The ids that it answers. */
async function inTwenties<T>(all: T[], name: string, type: string, input: (one: T) => object, key?: 'id'): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < all.length; n += 20) {
    const some = all.slice(n, n + 20);
    const declared = some.map((_, i) => `$i${i}: ${type}!${key ? `, $k${i}: ID!` : ''}`).join(', ');
    const fields = some.map((_, i) => `f${i}: ${name}(input: $i${i}${key ? `, ${key}: $k${i}` : ''}) { id }`).join(' ');
    const variables = Object.fromEntries(
      some.flatMap((one, i) => [[`i${i}`, input(one)] as const, ...(key ? [[`k${i}`, one] as const] : [])]),
    );
    const made = await demo.ask(`mutation (${declared}) { ${fields} }`, variables);
    ids.push(...some.map((_, i) => made[`f${i}`].id));
  }
  return ids;
}

/** A pipeline of as many stages as there may be: its id, and theirs. */
async function longPipeline(): Promise<[string, string[]]> {
  const create =
    'mutation ($stages: [CreateStageInput!]) { createPipeline(input: { name: "Long", stages: $stages }) { id stages { id } } }';
  const { createPipeline: made } = await demo.ask(create, { stages: Array.from({ length: 50 }, (_, n) => ({ name: `Stage ${n}` })) });
  const add = 'mutation ($id: ID!, $name: String!) { createStage(pipelineId: $id, input: { name: $name }) { id } }';
  const stages = made.stages.map(({ id }: Loose) => id);
  for (let n = 50; n < 100; n++) stages.push((await demo.ask(add, { id: made.id, name: `Stage ${n}` })).createStage.id);
  return [made.id, stages];
}

describe('the list of contacts', () => {
  it('shows what becomes of those behind its 200th', async () => {
    const make = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    await times(200, (n) => demo.ask(make, { input: { firstName: 'One of many', lastName: `${n}` } }));
    const { contacts } = await demo.ask('{ contacts(last: 1) { totalCount nodes { id name } } }');
    await one.visit('/board/contacts');
    await one.find('.people li');
    await eventually(async () => {
      await one.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      return (await countOf('.people li')) === contacts.totalCount;
    });
    const [{ id, name }] = contacts.nodes;
    await one.says(name);
    await demo.ask('mutation ($id: ID!) { updateContact(id: $id, input: { firstName: "Renamed elsewhere" }) { id } }', { id });
    await one.says('Renamed elsewhere');
    await demo.ask('mutation ($id: ID!) { deleteContact(id: $id) { deletedId } }', { id });
    await eventually(async () => (await countOf('.people li')) === contacts.totalCount - 1);
    expect(await countOf(`.people a[href$="${id}"]`)).toBe(0);
  });

  it('goes on where a busy browser tells only late that its end has come into sight', async () => {
    const tab = await demo.tab();
    const { page } = tab;
    await page.evaluateOnNewDocument(() => {
      const Prompt = IntersectionObserver;
      window.IntersectionObserver = class extends Prompt {
        constructor(listener: IntersectionObserverCallback) {
          const looks: IntersectionObserverEntry[] = [];
          super((more, observer) => {
            looks.push(...more);
            if (looks.at(-1)!.isIntersecting) listener(looks.splice(0), observer);
          });
        }
      };
    });
    await tab.visit('/board/contacts');
    const shown = () => page.$$eval('.people li', (all) => all.length);
    await eventually(async () => (await shown()) === 50);
    await eventually(async () => {
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      return (await shown()) > 50;
    });
    await page.close();
  });
});

describe('the inbox', () => {
  it('goes on where it ends, and has the conversations behind its first page in full', async () => {
    const make = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    const ids: string[] = [];
    await times(60, async (n) => {
      const { createContact } = await demo.ask(make, { input: { firstName: 'Writes', lastName: `${n}`, phone: `+141555501${n + 10}` } });
      ids.push(createContact.id);
      await demo.rest('POST', '/messages', { contactId: createContact.id, channel: 'sms', direction: 'inbound', body: `Hello ${n}` });
    });
    const { conversations } = await demo.ask('{ conversations(last: 1) { totalCount nodes { contactId } } }');
    await one.visit('/board/inbox');
    await eventually(async () => (await countOf('.threads li')) === 50);
    await eventually(async () => {
      await one.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      return (await countOf('.threads li')) === conversations.totalCount;
    });
    await one.picture('inbox-large');
    const last = conversations.nodes[0].contactId as string;
    await (await one.find(`[data-conversation="${last}"] a`)).evaluate((link) => (link as HTMLElement).click());
    await one.find('.talk .top h1');
    expect(await one.page.$eval('.talk', (thread) => thread.getBoundingClientRect().top)).toBeGreaterThan(0);
    await one.picture('inbox-large-open');
    await demo.rest('POST', '/messages', { contactId: last, channel: 'sms', direction: 'inbound', body: 'Up again' });
    await one.find(`.threads li:first-child[data-conversation="${last}"]`);
    const oldest = (await demo.ask('{ conversations(last: 1) { nodes { contactId } } }')).conversations.nodes[0].contactId as string;
    await one.visit(`/board/inbox/${oldest}`);
    await one.find('.talk .top button');
    await one.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await one.find(`[data-conversation="${oldest}"][data-unread="false"]`);
  });
});

describe('messages of a size that is allowed', () => {
  const body = `<p>Large</p><img src="data:image/png;base64,${'x'.repeat(380_000)}">`;
  const writes = (contactId: string) =>
    demo.rest('POST', '/messages', { contactId, channel: 'email', direction: 'inbound', subject: 'A picture', body });

  it('leave the inbox open, and a thread, which shows as many as one answer holds', async () => {
    const make = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    const ids: string[] = [];
    await times(50, async (n) => {
      const { createContact } = await demo.ask(make, { input: { firstName: 'Sends', lastName: `${n}`, email: `sends${n}@example.com` } });
      ids.push(createContact.id);
      await writes(createContact.id);
    });
    await one.visit('/board/inbox');
    await eventually(async () => (await countOf('.threads li')) === 50);
    expect(await one.page.$$eval('.threads .who small', (all) => all.every(({ textContent }) => textContent === 'Large'))).toBe(true);
    await times(50, () => writes(ids[0]!));
    await one.visit(`/board/inbox/${ids[0]}`);
    await eventually(async () => (await countOf('.talk ol li')) === 25);
    expect([await countOf('.fault'), await one.page.$eval('.talk', ({ textContent }) => textContent)]).toEqual([
      0,
      expect.stringContaining('26 more are not shown.'),
    ]);
  }, 120_000);
});

describe('the board', () => {
  it('counts all deals of a stage, goes on with a column where it ends, and shows other pipelines', async () => {
    const { pipelines } = await demo.ask('{ pipelines(first: 1) { nodes { id stages { id } } } }');
    const [{ id: pipelineId, stages }] = pipelines.nodes;
    const [{ id: stageId }] = stages;
    const make = 'mutation ($input: CreateDealInput!) { createDeal(input: $input) { id } }';
    await times(210, (n) => demo.ask(make, { input: { title: `Deal ${n}`, pipelineId, stageId, value: 1 } }));
    const query = 'query ($id: ID!) { deals(filter: { stageId: $id }, last: 1) { totalCount nodes { id } } }';
    const { deals } = await demo.ask(query, { id: stageId });
    await one.visit('/board');
    const column = `[data-stage="${stageId}"]`;
    const cards = () => countOf(`${column} [data-deal]`);
    await eventually(async () => (await cards()) === 50);
    await one.says(`${deals.totalCount - 50} more`);
    expect(await one.page.$eval(`${column} h2 small`, ({ textContent }) => textContent)).toBe(`${deals.totalCount}`);
    // The stages behind it show theirs, however many it has.
    expect(await countOf('[data-stage]:not(:first-child) [data-deal]')).toBeGreaterThan(5);
    for (const shown of [100, 150, 200, deals.totalCount]) {
      await (await one.find(`${column} > button`)).click();
      await eventually(async () => (await cards()) === shown);
    }
    const [{ id }] = deals.nodes;
    await demo.ask('mutation ($id: ID!) { updateDeal(id: $id, input: { title: "The last of all" }) { id } }', { id });
    await one.says('The last of all');
    const second = 'mutation { createPipeline(input: { name: "Second", stages: [{ name: "Only" }] }) { id stages { id } } }';
    const { createPipeline: made } = await demo.ask(second);
    const choice = await one.find('select[aria-label=Pipeline]');
    await choice.select(made.id);
    await one.find(`[data-stage="${made.stages[0].id}"]`);
  });
});

async function openPipeline(screen: Screen, id: string): Promise<void> {
  await screen.visit('/board');
  await (await screen.find('select[aria-label=Pipeline]')).select(id);
}

const lineOf = (screen: Screen) => screen.page.$eval('.line', ({ textContent }) => textContent);
const titles = (screen: Screen) => screen.page.$$eval('[data-stage] [data-deal] b', (all) => all.map(({ textContent }) => textContent));

/** Waits until a tab shows a hundred deals of this title. */
const shows = (screen: Screen, title: string) =>
  eventually(async () => {
    const shown = await titles(screen);
    return shown.length === 100 && shown.every((one) => one === title);
  }, 20_000);

describe('the board of a long pipeline', () => {
  let other: Screen;
  let [id, stages, deals]: [string, string[], string[]] = ['', [], []];
  beforeAll(async () => {
    other = await demo.tab();
    [id, stages] = await longPipeline();
    deals = await inTwenties(stages, 'createDeal', 'CreateDealInput', (stageId) => ({ title: 'One of each', pipelineId: id, stageId }));
    await Promise.all([one, other].map((screen) => openPipeline(screen, id)));
  }, 60_000);
  const rename = (title: string) => inTwenties(deals, 'updateDeal', 'UpdateDealInput', () => ({ title }), 'id');

  it('shows the cards of all 100 stages, and what becomes of each', async () => {
    for (const screen of [one, other]) await shows(screen, 'One of each');
    await demo.ask('mutation ($id: ID!) { updateDeal(id: $id, input: { title: "Renamed at the end" }) { id } }', { id: deals.at(-1) });
    for (const screen of [one, other]) await eventually(async () => (await titles(screen)).at(-1) === 'Renamed at the end');
    expect([await countOf('.fault'), await lineOf(one), one.sockets.size]).toEqual([0, 'Live', 3]);
  });

  it('follows changes of all stages that reach it in one go', async () => {
    const goOn = await one.hold();
    await rename('All at once');
    await shows(other, 'All at once');
    await goOn();
    await shows(one, 'All at once');
  });

  it('goes on in each of its sockets after a cut, with what changed meanwhile', async () => {
    for (const screen of [one, other]) screen.heard.splice(0);
    demo.line.refuse();
    try {
      await eventually(async () => (await lineOf(one)) === 'Reconnecting');
      await rename('While it was cut');
    } finally {
      demo.line.heal();
    }
    for (const screen of [one, other]) await shows(screen, 'While it was cut');
    await eventually(async () => (await lineOf(one)) === 'Live');
    const lists = one.heard.map((text) => (JSON.parse(text) as Loose).payload?.data?.live?.deals).filter((list) => list?.rows);
    expect([lists.length, lists.some(({ isWhole }) => isWhole), one.sockets.size]).toEqual([100, false, 3]);
    expect(demo.faults().filter((fault) => !/WebSocket connection to .* failed/.test(fault))).toEqual([]);
  });

  it('says what is beyond its 120 pages of cards', async () => {
    await Promise.all([other.page.close(), one.visit('/board/contacts')]);
    const [first] = stages;
    const input = { title: 'One of many', pipelineId: id, stageId: first };
    await inTwenties(Array.from({ length: 1079 }), 'createDeal', 'CreateDealInput', () => input);
    await openPipeline(one, id);
    for (let pages = 2; pages <= 21; pages++) {
      await (await one.find(`[data-stage="${first}"] > button`)).click();
      await eventually(async () => (await countOf(`[data-stage="${first}"] [data-deal]`)) === pages * 50);
    }
    await one.says('30 more are not shown.');
    expect([await countOf(`[data-stage="${first}"] > button`), await countOf('.fault'), await lineOf(one)]).toEqual([0, 0, 'Live']);
  }, 120_000);

  it('keeps no socket that nothing is watched in', async () => {
    const choice = await one.find('select[aria-label=Pipeline]');
    await choice.select(await choice.$eval(`option:not([value="${id}"])`, (option) => (option as HTMLOptionElement).value));
    await eventually(() => one.sockets.size < 3);
    await (await one.find('nav a[href$="/contacts"]')).click();
    await one.find('.people li');
    await eventually(() => one.sockets.size === 1);
    expect(await lineOf(one)).toBe('Live');
  });
});

describe('the week', () => {
  it('has what lasts several days on each of them, and says how many it does not show', async () => {
    const monday = new Date();
    monday.setHours(0, 0, 0, 0);
    monday.setDate(monday.getDate() - ((monday.getDay() + 6) % 7));
    const at = (hours: number) => new Date(monday.getTime() + hours * 3_600_000).toISOString();
    const calendar = async (name: string) => (await demo.rest('POST', '/calendars', { name, bufferMinutes: 0 })).data.id as string;
    const book = async (id: string, title: string, from: number, to: number): Promise<Loose> =>
      (await demo.rest('POST', `/calendars/${id}/appointments`, { title, startTime: at(from), endTime: at(to) })).data;
    const fairs = await calendar('Fairs');
    const fair = await book(fairs, 'A fair', -12, 36);
    await book(fairs, 'The week before', -40, -12);
    await one.visit('/board/calendar');
    await one.says('A fair');
    const days = () =>
      one.page.$$eval('.day', (all, id) => all.map((day) => Boolean(day.querySelector(`[data-appointment="${id}"]`))), fair.id);
    expect(await days()).toEqual([true, true, false, false, false, false, false]);
    expect(await one.page.evaluate(() => document.body.textContent)).not.toContain('The week before');
    const many = await calendar('Many');
    await times(200, (n) => book(many, `Slot ${n}`, n / 2, (n + 1) / 2));
    await one.says('more are not shown.');
  });
});
