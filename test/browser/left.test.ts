import { beforeAll, describe, expect, it } from '@jest/globals';
import type { HTTPRequest } from 'puppeteer-core';
import type { Loose } from '../support/client.js';
import { eventually } from '../support/live.js';
import { demo, onBoard, one } from './board.js';
import { fill, holding, textOf, written } from './fields.js';
import { desktop } from './screen.js';

// What is answered when the page that asked for it has been left.
onBoard();

/** The stages of the demo, by their names. */
let stages: Record<string, string>;
beforeAll(async () => {
  const { pipelines } = await demo.ask('{ pipelines(first: 1) { nodes { stages { id name } } } }');
  stages = Object.fromEntries(pipelines.nodes[0].stages.map(({ id, name }: Loose) => [name, id]));
});

async function person(): Promise<string> {
  const make = 'mutation { createContact(input: { phone: "+14155550178", email: "left@example.com" }) { id } }';
  return (await demo.ask(make)).createContact.id;
}
const topOf = async (stage: string, screen = one) =>
  (await screen.shown()).find(({ stageId }) => stageId === stages[stage])?.deals[0]?.split(' ')[0];
const statusOf = async (id: string) => (await demo.ask('query ($id: ID!) { deal(id: $id) { status } }', { id })).deal.status;

describe('an edit that is refused when its page was left', () => {
  it('is told on the page that its writer has gone to, with the way back', async () => {
    const id = await person();
    await one.visit(`/board/contacts/${id}`);
    await one.find('.who-box h1');
    await holding(one, 'SetContact', async (next) => {
      await fill(one, '.lines [name=email]', 'no address');
      await (await one.find('header a[href$="/inbox"]')).click();
      const sent = await next();
      await one.find('main.inbox');
      await sent.continue();
      await one.find('header [role=alert] a');
    });
    expect(await textOf(one, 'header [role=alert] a')).toBe('E-mail “no address” was not kept: must be an e-mail address');
    await one.picture('left-refused');
    await one.page.setViewport({ width: 390, height: 844 });
    expect(await one.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await one.picture('left-refused-phone');
    await one.page.setViewport(desktop);
    await (await one.find('header [role=alert] a')).click();
    await one.find('.who-box h1');
    expect(await written(one, '.lines [name=email]')).toBe('left@example.com');
    await one.press('Hide');
    await eventually(async () => !(await one.page.$('header [role=alert]')));
  });
});

/** Plays while what is sent is held, and goes to the inbox meanwhile: what is told there, and where that leads. */
async function toldAfter(operation: string, write: () => Promise<unknown>, answer: (sent: HTTPRequest) => Promise<unknown>) {
  await holding(one, operation, async (next) => {
    await write();
    const sent = await next();
    await (await one.find('header nav a[href$="/inbox"]')).click();
    await one.find('main.inbox[data-open=false]');
    await answer(sent);
    await one.find('header [role=alert] a');
  });
  return one.page.$eval('header [role=alert] a', (link) => [link.textContent, link.getAttribute('href')]);
}

const writeInto = async (selector: string, text: string) => {
  await fill(one, selector, text);
  await one.page.keyboard.press('Enter');
};
const say = (label: string, text: string) => writeInto(`input[aria-label="${label}"]`, text);

/** No answer comes, and this is what is told of it. */
const lost = (sent: HTTPRequest) => sent.abort('connectionreset');
const why = 'may not have been kept: The server cannot be reached: try again.';
/** What went wrong but that. */
const otherFaults = () => demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'));

describe('what is written to a contact and refused when its page was left', () => {
  it('is told with its words, and the way back: a text message', async () => {
    const id = await person();
    await one.visit(`/board/inbox/${id}`);
    const optOut = 'mutation ($id: ID!) { updateContact(id: $id, input: { optedOutSms: true }) { id } }';
    const told = await toldAfter(
      'SendSms',
      () => say('Write a text message', 'On my way'),
      async (sent) => {
        await demo.ask(optOut, { id });
        await sent.continue();
      },
    );
    const refusal = 'The contact, or somebody else with the number, has opted out of text messages';
    expect(told).toEqual([`Text message “On my way” was not kept: ${refusal}`, `/board/inbox/${id}`]);
  });

  it('is told as what may not have been kept where no answer came: a note, and a task that is done', async () => {
    const id = await person();
    const task = 'mutation ($id: ID!) { createTask(input: { contactId: $id, title: "Call back" }) { id } }';
    await demo.ask(task, { id });
    await one.visit(`/board/contacts/${id}`);
    const note = await toldAfter('AddNote', () => say('Add a note', 'x'.repeat(90)), lost);
    expect(note).toEqual([`Note “${'x'.repeat(80)}…” ${why}`, `/board/contacts/${id}`]);
    await one.visit(`/board/contacts/${id}`);
    const tick = async () => (await one.find('.side input[type=checkbox]')).click();
    expect(await toldAfter('SetTask', tick, lost)).toEqual([`Task “Call back” as done ${why}`, `/board/contacts/${id}`]);
    expect(otherFaults()).toEqual([]);
  });

  it('is told as what may not have been kept where no answer came: a line of a contact, and a deal on the board', async () => {
    const id = await person();
    await one.visit(`/board/contacts/${id}`);
    const line = await toldAfter('SetContact', () => writeInto('.lines [name=jobTitle]', 'Pilot'), lost);
    expect(line).toEqual([`Job title “Pilot” ${why}`, `/board/contacts/${id}`]);
    await one.visit('/board');
    expect(await toldAfter('CreateDeal', () => say('Add a deal', 'Perhaps'), lost)).toEqual([`“Perhaps” ${why}`, '/board']);
    expect(otherFaults()).toEqual([]);
  });
});

describe('a question that stands when somebody else logs in to the browser by another page', () => {
  it('is gone with the board that it was asked on, and they are told nothing of it', async () => {
    const tab = await demo.tab(true);
    await demo.login(tab);
    await eventually(() => topOf('Qualified', tab));
    await tab.drag((await topOf('Qualified', tab))!, stages.Lost!);
    await tab.find('dialog[open]');
    const { person: next } = await demo.ownerWithoutFactor('next');
    await tab.page.evaluate(async (body) => {
      await fetch('/api/v1/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'visible' });
      document.dispatchEvent(new Event('visibilitychange'));
    }, JSON.stringify(next));
    await tab.says('Create a pipeline');
    expect(await textOf(tab, 'header strong')).toBe('Theirs');
    expect(await tab.page.$('header [role=alert]')).toBeNull();
    await tab.page.close();
    expect(demo.faults().filter((fault) => !/status of 40[13]|WebSocket connection to .* failed/.test(fault))).toEqual([]);
  });
});

describe('a deal that comes into a stage that asks why it is lost, by somebody who has gone to another page', () => {
  it('stays where it was, and they are told', async () => {
    await one.visit('/board');
    await eventually(() => topOf('Qualified'));
    const id = (await topOf('Qualified'))!;
    const status = await statusOf(id);
    await holding(one, 'MoveDeal', async (next) => {
      await one.drag(id, stages.Lost!);
      const sent = await next();
      await one.page.$eval('header a[href$="/inbox"]', (link) => (link as HTMLElement).click());
      await one.find('main.inbox');
      await sent.continue();
      await one.find('header [role=alert] a[href$="/board"]');
    });
    expect(await textOf(one, 'header [role=alert] a')).toMatch(/ was not kept: nobody said why it is lost$/);
    expect([status, await statusOf(id)]).toEqual(['open', 'open']);
    await one.press('Hide');
  });

  it('is told, too, where the question stands when they go back', async () => {
    await one.visit('/board/contacts');
    const away = await one.find('header a[href$="/board"]');
    await away.evaluate((link) => (link as HTMLElement).click());
    await eventually(() => topOf('Qualified'));
    await one.drag((await topOf('Qualified'))!, stages.Lost!);
    await one.find('dialog[open]');
    await one.page.evaluate(() => history.back());
    await one.find('.people li');
    await one.find('header [role=alert] a');
    expect(await textOf(one, 'header [role=alert] a')).toMatch(/ was not kept: nobody said why it is lost$/);
  });
});
