import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/live.js';
import { demo, onBoard, one } from './board.js';
import { fill, textOf, written } from './fields.js';

onBoard();

const dayMs = 86_400_000;

describe('an appointment in the week', () => {
  it('says in words on which calendar it is, and that it does not take place', async () => {
    const { data: calendar } = await demo.rest('POST', '/calendars', { name: 'Told by name', bufferMinutes: 0 });
    const begins = new Date();
    begins.setHours(12, 0, 0, 0);
    const input = { startTime: begins.toISOString(), endTime: new Date(begins.getTime() + 1_800_000).toISOString() };
    const { data } = await demo.rest('POST', `/calendars/${calendar.id}/appointments`, { title: 'Told in words', ...input });
    await one.visit('/board/calendar');
    const row = `[data-appointment="${data.id}"]`;
    await one.find(row);
    const words = () => one.page.$$eval(`${row} small`, (all) => all.map(({ textContent }) => textContent));
    expect(await words()).toEqual(['Told by name']);
    await (await one.find(`${row} .acts button:last-child`)).evaluate((button) => (button as HTMLElement).click());
    await one.find(`${row}[data-status="cancelled"]`);
    expect(await words()).toEqual(['Told by name', 'Cancelled']);
    expect(await one.page.$eval(row, (element) => getComputedStyle(element).opacity)).toBe('1');
  });
});

describe('an appointment that is being written', () => {
  it('stays while other weeks are looked at, with the calendar that was chosen', async () => {
    await one.visit('/board/calendar');
    await (await one.find('.chip:last-child')).evaluate((chip) => (chip as HTMLElement).click());
    await one.find('.chip:last-child[aria-pressed="true"]');
    await fill(one, '.book [name=title]', 'When we are free');
    await one.page.$eval('.book [name=at]', (field) => {
      (field as HTMLInputElement).value = '2031-03-05T10:00';
    });
    const fields = () => Promise.all(['title', 'at', 'calendar'].map((name) => written(one, `.book [name=${name}]`)));
    const before = await fields();
    expect(before.slice(0, 2)).toEqual(['When we are free', '2031-03-05T10:00']);
    const monday = await one.page.$eval('.day', (day) => day.getAttribute('aria-label'));
    for (const label of ['The week after', 'The week before']) {
      await (await one.find(`.step[aria-label="${label}"]`)).evaluate((button) => (button as HTMLElement).click());
      await eventually(async () => !(await textOf(one, '.chips')).includes('Loading'), 8000);
      await one.find('.chip:last-child[aria-pressed="true"]');
      expect([label, await fields()]).toEqual([label, before]);
    }
    expect(await one.page.$eval('.day', (day) => day.getAttribute('aria-label'))).toBe(monday);
  });
});

describe('the week of a tab that stays open', () => {
  it('is the new one when that has begun', async () => {
    const tab = await demo.tab();
    await tab.page.evaluateOnNewDocument(() => {
      const clock = Object.assign(globalThis, { ahead: 0 });
      const Real = Date;
      const now = () => Real.now() + clock.ahead;
      const Shifted = class extends Real {
        constructor(...given: []) {
          super(...(given.length > 0 ? given : ([now()] as unknown as [])));
        }
      };
      globalThis.Date = Object.assign(Shifted, { now }) as unknown as DateConstructor;
    });
    await tab.visit('/board/calendar');
    await tab.find('.book');
    await tab.page.evaluate((ahead) => {
      Object.assign(globalThis, { ahead });
      document.dispatchEvent(new Event('visibilitychange'));
    }, 7 * dayMs);
    const begins = new Date();
    begins.setDate(begins.getDate() + 7);
    begins.setHours(12, 0, 0, 0);
    const { data: calendar } = await demo.rest('POST', '/calendars', { name: 'Ahead', bufferMinutes: 0 });
    const input = { startTime: begins.toISOString(), endTime: new Date(begins.getTime() + 1_800_000).toISOString() };
    await demo.rest('POST', `/calendars/${calendar.id}/appointments`, { title: 'In the new week', ...input });
    await tab.says('In the new week');
    const today = await tab.page.$$eval('[data-today=true]', (all) => all.map((day) => day.getAttribute('aria-label')));
    expect(today).toEqual([begins.toDateString()]);
    expect(await tab.page.$$eval('.step', (all) => all.map((button) => (button as HTMLButtonElement).disabled))).toEqual([
      false,
      true,
      false,
    ]);
    await tab.page.close();
  });

  it('stays the one that was chosen, and this week is found again', async () => {
    const tab = await demo.tab();
    await tab.visit('/board/calendar');
    await tab.find('.book');
    const days = () => tab.page.$$eval('.day', (all) => all.map((day) => day.getAttribute('aria-label')));
    const before = await days();
    const press = (nth: number) => tab.page.$$eval('.step', (all, n) => (all[n] as HTMLElement).click(), nth);
    await press(2);
    await press(2);
    expect(await days()).not.toEqual(before);
    await press(0);
    await press(0);
    expect(await days()).toEqual(before);
    await press(0);
    await press(1);
    expect(await days()).toEqual(before);
    expect(new Date(before[0]!).getDay()).toBe(1);
    await tab.page.close();
  });
});
