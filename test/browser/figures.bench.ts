import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/live.js';
import { Demo } from './demo.js';
import type { Screen } from './screen.js';

let demo: Demo;
let one: Screen;
let other: Screen;
beforeAll(async () => {
  demo = await Demo.start();
  one = await demo.tab();
  other = await demo.tab();
  await demo.login(one);
  await one.find('[data-deal]');
  await other.visit('/board');
  await other.find('[data-deal]');
});
afterAll(() => demo.end());

function tell(what: string, all: number[]): number {
  const sorted = all.toSorted((a, b) => a - b).map(Math.round);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  process.stdout.write(`${what}: median ${median} ms, from ${sorted[0]} to ${sorted.at(-1)} ms, ${sorted.length} times\n`);
  return median;
}

/** When the first text is painted, and when the first card stands there, in milliseconds from the navigation. */
async function painted(isCached: boolean): Promise<{ text: number; card: number }> {
  const tab = await demo.tab();
  await tab.page.setCacheEnabled(isCached);
  await tab.page.evaluateOnNewDocument(() => {
    const seen = new MutationObserver(() => {
      if (!document.querySelector('[data-deal]')) return;
      seen.disconnect();
      requestAnimationFrame(() => performance.mark('card'));
    });
    seen.observe(document, { childList: true, subtree: true });
  });
  await tab.visit('/board');
  const times = await eventually(() =>
    tab.page.evaluate(() => {
      const [text] = performance.getEntriesByName('first-contentful-paint');
      const [card] = performance.getEntriesByName('card');
      return text && card && { text: text.startTime, card: card.startTime };
    }),
  );
  await tab.page.close();
  return times!;
}

describe('the board', () => {
  it.each([true, false])('is painted soon after a navigation; with a cache: %s', async (isCached) => {
    const times = [];
    for (let n = 0; n < 9; n++) times.push(await painted(isCached));
    const text = times.map((time) => time.text);
    tell(
      `first cards, cache ${isCached}`,
      times.map(({ card }) => card),
    );
    expect(tell(`first paint, cache ${isCached}`, text)).toBeLessThanOrEqual(1000);
  });

  it('shows a move in the other tab soon after the pointer let go', async () => {
    await one.page.evaluate(() => addEventListener('pointerup', () => performance.mark('let go'), true));
    const times: number[] = [];
    for (let n = 0; n < 25; n++) {
      const [from, to] = (await one.shown()).toSorted((a, b) => b.deals.length - a.deals.length || a.stageId.localeCompare(b.stageId));
      const id = from!.deals[0]!.split(' ')[0]!;
      await other.page.evaluate(
        (deal, stage) => {
          performance.clearMarks();
          const seen = new MutationObserver(() => {
            if (!document.querySelector(`[data-stage="${stage}"] [data-deal="${deal}"]`)) return;
            seen.disconnect();
            requestAnimationFrame(() => performance.mark('seen'));
          });
          seen.observe(document.body, { childList: true, subtree: true });
        },
        id,
        to!.stageId,
      );
      await one.page.evaluate(() => performance.clearMarks());
      await one.drag(id, to!.stageId);
      const at = (screen: Screen, name: string) =>
        eventually(() =>
          screen.page.evaluate((mark) => {
            const [entry] = performance.getEntriesByName(mark);
            return entry && performance.timeOrigin + entry.startTime;
          }, name),
        );
      times.push((await at(other, 'seen'))! - (await at(one, 'let go'))!);
    }
    expect(tell('a move seen in the other tab', times)).toBeLessThanOrEqual(150);
  });
});
