/** `npm run test:browser`: plays the board in a Chromium, and says so where there is none. */
import { spawnSync } from 'node:child_process';
import { findChromium } from './chromium.mjs';

const chromium = findChromium();
if (!chromium) {
  console.log('test:browser: skipped, no Chromium was found in the usual places; CHROMIUM names one');
  process.exit(0);
}
const { NODE_OPTIONS = '' } = process.env;
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '-c', 'test/browser/jest.config.js', ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    env: { ...process.env, CHROMIUM: chromium, NODE_OPTIONS: `${NODE_OPTIONS} --experimental-vm-modules --no-warnings` },
  },
);
process.exit(status ?? 1);
