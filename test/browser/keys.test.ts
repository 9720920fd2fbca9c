import { describe, expect, it } from '@jest/globals';
import type { HTTPRequest } from 'puppeteer-core';
import type { Loose } from '../support/client.js';
import { eventually } from '../support/live.js';
import { demo, onBoard, one } from './board.js';
import { focused, holding } from './fields.js';
import { desktop, phone } from './screen.js';

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

  it('has nothing over the end of its title, unless it is pointed at, or its stage is being chosen', async () => {
    await one.page.mouse.move(0, 0);
    const card = `[data-deal="${await one.focused()}"]`;
    const opacity = () => one.page.$eval(`${card} select`, (choice) => getComputedStyle(choice).opacity);
    expect(await opacity()).toBe('0');
    await (await one.find(`${card} select`)).focus();
    expect(await opacity()).toBe('1');
  });
});

describe('a card for which another stage is chosen', () => {
  it.each([
    ['desktop', desktop],
    ['phone', phone],
  ] as const)('goes to the top of it without being dragged, on a %s', async (name, viewport) => {
    await one.page.setViewport(viewport);
    await one.visit('/board');
    await eventually(async () => JSON.stringify(await one.shown()) === JSON.stringify(await demo.board()), 8000);
    const [, to, , from] = await one.shown();
    const deal = from!.deals[0]!;
    const id = deal.split(' ')[0]!;
    const choice = await one.find(`[data-deal="${id}"] select`);
    const target = await choice.evaluate((element) => {
      const [words, range] = [element.closest('[data-deal]')!.querySelector('b')!, document.createRange()];
      range.selectNodeContents(words);
      const { left, width, height } = element.getBoundingClientRect();
      const isBeside = [...range.getClientRects()].every(({ right }) => right <= left);
      const { opacity } = getComputedStyle(element);
      return { label: element.getAttribute('aria-label'), isLarge: width >= 24 && height >= 24, isBeside, opacity };
    });
    expect(target).toMatchObject({ label: `Move ${deal.slice(id.length + 1)} to`, isLarge: true });
    // Where nothing can be pointed at it is there for good, beside the words.
    if (name === 'phone') expect(target).toMatchObject({ opacity: '1', isBeside: true });
    await choice.focus();
    await choice.select(to!.stageId);
    await eventually(async () => (await one.shown())[1]?.deals[0] === deal, 5000);
    expect(await one.focused()).toBe(id);
    await eventually(async () => (await demo.board())[1]!.deals[0] === deal);
    const chosen = await one.page.$eval(`[data-deal="${id}"] select`, (element) => (element as HTMLSelectElement).value);
    expect(chosen).toBe(to!.stageId);
    await one.page.setViewport(desktop);
  });
});

describe('going to another page by a key', () => {
  const isAtHeading = (text: string) =>
    one.page
      .$eval(':focus', ({ tagName, textContent }) => `${tagName} ${textContent}`)
      .then(
        (told) => told === `H1 ${text}`,
        () => false,
      );

  it('takes the focus to its heading, and back', async () => {
    await one.visit('/board');
    const card = await one.find('[data-deal]:has(a)');
    const name = await card.$eval('a', ({ textContent }) => textContent);
    await card.focus();
    await one.page.keyboard.press('Enter');
    await eventually(() => isAtHeading(name), 8000);
    await one.page.keyboard.press('Tab');
    expect(await focused(one)).toBe('firstName');
    await one.page.evaluate(() => history.back());
    await eventually(() => isAtHeading('Deals'), 8000);
  });

  it('leaves it where it is as long as that is there', async () => {
    const link = await one.find('header a[href$="/inbox"]');
    await link.focus();
    await one.page.keyboard.press('Enter');
    await one.find('.threads li');
    expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
  });
});

describe('a card that is put behind another whose own move is not kept yet', () => {
  const topOf = async (nth: number) => (await one.shown())[nth]?.deals[0]?.split(' ')[0];
  const idsOf = (deals: string[]) => deals.map((deal) => deal.split(' ')[0]);

  /**
   * Takes the card at the top of the first column to the second, and that of the third to the place below it, while the first move
   * hangs. What becomes of that one the test says; then the last one is sent.
   */
  async function follow(goOn: (first: HTTPRequest) => Promise<void>) {
    await one.visit('/board');
    await eventually(async () => (await topOf(0)) && (await topOf(2)));
    const [above, below] = [(await topOf(0))!, (await topOf(2))!];
    const { keyboard } = one.page;
    const step = async (id: string, key: 'ArrowRight' | 'ArrowLeft' | 'ArrowDown') => {
      await keyboard.press(key);
      await eventually(async () => (await one.focused()) === id);
    };
    let sent = '';
    await holding(one, 'MoveDeal', async (next) => {
      await (await one.find(`[data-deal="${above}"]`)).focus();
      await keyboard.down('Shift');
      await step(above, 'ArrowRight');
      const first = await next();
      await (await one.find(`[data-deal="${below}"]`)).focus();
      await step(below, 'ArrowLeft');
      const aside = await next();
      await step(below, 'ArrowDown');
      await keyboard.up('Shift');
      expect(idsOf((await one.shown())[1]!.deals).slice(0, 2)).toEqual([above, below]);
      await aside.continue();
      await eventually(async () => idsOf((await demo.board())[1]!.deals).includes(below));
      await goOn(first);
      const last = await next();
      sent = last.postData()!;
      await last.continue();
    });
    return { above, below, sent };
  }

  it('is put behind the nearest one that is there, where that one does not come', async () => {
    const { above, below, sent } = await follow((first) => first.abort('connectionreset'));
    expect([sent.includes(below), sent.includes(above)]).toEqual([true, false]);
    await eventually(async () => idsOf((await one.shown())[0]!.deals).includes(above));
    expect(idsOf((await demo.board())[1]!.deals)).toContain(below);
    expect(demo.faults().filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });

  it('is put behind that one, once it has come', async () => {
    const { above, below, sent } = await follow((first) => first.continue());
    expect(sent).toContain(`"afterId":"${above}"`);
    await eventually(
      async () =>
        idsOf((await demo.board())[1]!.deals)
          .slice(0, 2)
          .join() === `${above},${below}`,
    );
  });
});
