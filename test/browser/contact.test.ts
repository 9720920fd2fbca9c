import { describe, expect, it } from '@jest/globals';
import { demo, onBoard, one } from './board.js';
import { desktop } from './screen.js';

onBoard();

const dayMs = 86_400_000;

async function person(firstName: string): Promise<string> {
  const make = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
  return (await demo.ask(make, { input: { firstName } })).createContact.id;
}

describe('the page of a contact', () => {
  it('says in words which appointment does not take place, and in which stage a deal is', async () => {
    const id = await person('Worded');
    const { data: calendar } = await demo.rest('POST', '/calendars', { name: 'Worded', bufferMinutes: 0 });
    for (const [n, status] of ['scheduled', 'cancelled', 'completed'].entries()) {
      const begins = Date.now() + (n + 1) * dayMs;
      const [startTime, endTime] = [begins, begins + 1_800_000].map((at) => new Date(at).toISOString());
      const input = { title: `To be ${status}`, contactId: id, startTime, endTime, status };
      await demo.rest('POST', `/calendars/${calendar.id}/appointments`, input);
    }
    const { pipelines } = await demo.ask('{ pipelines(first: 1) { nodes { id stages { id name } } } }');
    const [{ id: pipelineId, stages }] = pipelines.nodes;
    const deal = { title: 'In a stage', contactId: id, pipelineId, stageId: stages[2].id };
    await demo.ask('mutation ($input: CreateDealInput!) { createDeal(input: $input) { id } }', { input: deal });
    await one.visit(`/board/contacts/${id}`);
    await one.says('To be completed');
    const words = await one.page.$$eval('.side [data-status]', (all) => all.map((row) => row.querySelector('small')?.textContent ?? null));
    expect(words).toEqual([null, 'Cancelled', 'Done']);
    expect(await one.page.$eval('.who-box .small-list small', ({ textContent }) => textContent)).toBe(stages[2].name);
  });
});

describe('the initials of a contact', () => {
  it('are whole letters, also of scripts and signs that take two characters', async () => {
    for (const [firstName, initials] of [
      ['𞤀dlam 🚀launch', '𞤀🚀'],
      ['ada lovelace king', 'AL'],
    ] as const) {
      await one.visit(`/board/contacts/${await person(firstName)}`);
      await one.find('.who-box .face');
      expect(await one.page.$eval('.who-box .face', ({ textContent }) => textContent)).toBe(initials);
    }
  });
});

describe('the page of a contact with a long history', () => {
  it('shows the appointments that are coming, and the last ones before them', async () => {
    const id = await person('Weekly');
    const { data: calendar } = await demo.rest('POST', '/calendars', { name: 'Weekly', bufferMinutes: 0 });
    const book = (title: string, days: number) => {
      const begins = Date.now() + days * dayMs;
      const [startTime, endTime] = [begins, begins + 1_800_000].map((at) => new Date(at).toISOString());
      return demo.rest('POST', `/calendars/${calendar.id}/appointments`, { title, contactId: id, startTime, endTime });
    };
    for (let n = 1; n <= 35; n++) await book(`Over ${n}`, -2 * n);
    await book('Coming', 1);
    await one.visit(`/board/contacts/${id}`);
    await one.says('Coming');
    const titles = await one.page.$$eval('.side time + span', (all) => all.map(({ textContent }) => textContent));
    expect(titles).toEqual([...Array.from({ length: 10 }, (_, n) => `Over ${10 - n}`), 'Coming']);
    await one.says('25 more are not shown.');
  });

  it('shows open tasks above those that are done, however new these are', async () => {
    const id = await person('Busy');
    await demo.rest('POST', '/tasks', { contactId: id, title: 'Still open' });
    for (let n = 0; n < 30; n++) await demo.rest('POST', '/tasks', { contactId: id, title: `Done ${n}`, status: 'done' });
    await one.visit(`/board/contacts/${id}`);
    await one.find('.side label');
    const titles = await one.page.$$eval('.side label', (all) => all.map(({ textContent }) => textContent));
    expect([titles.length, titles.slice(0, 2)]).toEqual([30, ['Still open', 'Done 29']]);
  });
});

describe('words that are longer than their boxes', () => {
  const address = 'maximilianwolkensteiner@longexample.com';
  const link = 'https://example.com/?utm_source=newsletter&utm_medium=email&utm_campaign=springoffers';
  const boxes = '.side, .side li, .side label, .notes p, .who b, .top h1, .person h1';

  /** What is wider than its box, and whether the page is than its window. */
  const spill = () =>
    one.page.evaluate((all) => {
      const wide = [...document.querySelectorAll(all)].filter((box) => box.scrollWidth > box.clientWidth);
      const beyond = document.documentElement.scrollWidth > innerWidth ? ['page'] : [];
      return [...beyond, ...wide.map((box) => box.textContent)];
    }, boxes);

  it('break, and make no page wider than its window', async () => {
    const make = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    const { id } = (await demo.ask(make, { input: { email: address } })).createContact;
    await demo.rest('POST', '/tasks', { contactId: id, title: `Read ${link}` });
    await demo.rest('POST', '/notes', { contactId: id, body: link });
    const mail = { contactId: id, channel: 'email', direction: 'inbound', subject: 'Hi', body: 'Hello' };
    await demo.rest('POST', '/messages', mail);
    for (const viewport of [desktop, { width: 320, height: 640 }]) {
      await one.page.setViewport(viewport);
      for (const [path, shown] of [
        ['/contacts', '.people li'],
        [`/contacts/${id}`, '.side .notes li'],
        ['/inbox', '.threads li'],
        [`/inbox/${id}`, '.talk li'],
      ] as const) {
        await one.visit(`/board${path}`);
        await one.find(shown);
        if (path === '/contacts') await (await one.find('.find input')).type(address);
        await one.says(address);
        expect([viewport.width, path, await spill()]).toEqual([viewport.width, path, []]);
      }
    }
    await one.page.setViewport(desktop);
  });
});
