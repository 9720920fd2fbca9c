import { describe, expect, it } from '@jest/globals';
import type { Loose } from '../support/client.js';
import { demo, onBoard, one } from './board.js';

onBoard();

/** Presses keys where the focus is; whether the page took them, so that the browser does nothing by them. */
const taken = (keys: KeyboardEventInit) =>
  one.page.evaluate((init) => {
    const pressed = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init });
    return !(document.activeElement ?? document.body).dispatchEvent(pressed);
  }, keys);

describe('the key that searches', () => {
  const place = () => one.page.evaluate(() => [location.pathname, history.length] as const);
  const focusedType = () => one.page.evaluate(() => document.activeElement?.getAttribute('type'));

  it('goes to the field where it is there, and nowhere else', async () => {
    await one.visit('/board/contacts');
    await one.find('.people a');
    const before = await place();
    await one.page.evaluate(() => (document.activeElement as HTMLElement).blur());
    expect([await taken({ key: '/' }), await focusedType(), await place()]).toEqual([true, 'search', before]);
  });

  it('is left to a dialog that is open', async () => {
    await one.press('New contact');
    const button = await one.find('dialog[open] button');
    await button.focus();
    const before = await place();
    expect([await taken({ key: '/' }), await place()]).toEqual([false, before]);
    await one.page.keyboard.press('Escape');
  });

  it('goes to the browser with Ctrl, Alt or Meta', async () => {
    await one.visit('/board');
    await (await one.find('[data-deal]')).focus();
    for (const modifier of ['ctrlKey', 'metaKey', 'altKey']) expect(await taken({ key: '/', [modifier]: true })).toBe(false);
    expect((await place())[0]).toBe('/board');
    expect([await taken({ key: '/' }), (await place())[0]]).toEqual([true, '/board/contacts']);
  });
});

describe('a card that has the focus', () => {
  it('says what it shows, and where Tab stops which keys there are', async () => {
    const { deals } = await demo.ask('{ deals(first: 50) { nodes { id title contact { name } assignedUser { name } } } }');
    const deal = deals.nodes.find((one: Loose) => one.contact && one.assignedUser);
    await one.visit('/board');
    const card = await one.find(`[data-deal="${deal.id}"]`);
    const label = (await card.evaluate((element) => element.getAttribute('aria-label')))!;
    const end = `, ${deal.contact.name}, assigned to ${deal.assignedUser.name}`;
    expect([label.startsWith(`${deal.title}, `), label.endsWith(end)]).toEqual([true, true]);
    const keys = await one.page.$eval('[data-deal][tabindex="0"]', (element) => {
      const hint = document.getElementById(element.getAttribute('aria-describedby')!);
      return hint!.textContent;
    });
    expect(keys).toContain('Arrows go from card to card');
  });

  it('leaves the shortcuts of the browser to it', async () => {
    const { id } = await one.page.$eval('[data-deal][tabindex="0"]', (element) => {
      (element as HTMLElement).focus();
      return { id: (element as HTMLElement).dataset.deal };
    });
    for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowDown'])
      for (const modifier of ['altKey', 'ctrlKey', 'metaKey'])
        for (const shiftKey of [false, true])
          expect([key, modifier, await taken({ key, shiftKey, [modifier]: true }), await one.focused()]).toEqual([
            key,
            modifier,
            false,
            id,
          ]);
    expect([await taken({ key: 'ArrowRight' }), await one.focused()]).toEqual([true, expect.not.stringContaining(id!)]);
  });
});
