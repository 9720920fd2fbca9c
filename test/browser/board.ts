import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { Demo } from './demo.js';
import type { Screen } from './screen.js';

/** The demo, and a tab of it that is logged in and shows the board. */
export let demo: Demo;
export let one: Screen;

/** For the tests of one file, each of which ends without a fault of the page. */
export function onBoard(): void {
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
}
