import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Demo } from './demo.js';
import type { Screen } from './screen.js';

let demo: Demo;
let one: Screen;
beforeAll(async () => {
  demo = await Demo.start();
  one = await demo.tab();
  await demo.login(one);
  await one.find('[data-deal]');
  demo.faults();
});
afterAll(() => demo.end());
afterEach(() => {
  expect(demo.faults()).toEqual([]);
});

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

  it('is left to the browser with a key that makes it another one', async () => {
    await one.visit('/board');
    await (await one.find('[data-deal]')).focus();
    for (const modifier of ['ctrlKey', 'metaKey', 'altKey']) expect(await taken({ key: '/', [modifier]: true })).toBe(false);
    expect((await place())[0]).toBe('/board');
    expect([await taken({ key: '/' }), (await place())[0]]).toEqual([true, '/board/contacts']);
  });
});
