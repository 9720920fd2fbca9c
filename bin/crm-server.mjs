#!/usr/bin/env node
// Starts the server as `npm start` does, with its data in the folder where it is called: the demo where nothing is configured.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { become } from './become.mjs';
import { nodeFault } from './node.mjs';

const fault = nodeFault(process.version);
if (fault) {
  console.error(`crm-server: ${fault}`);
  process.exit(1);
}
const main = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
if (!existsSync(main)) {
  console.error('crm-server: it is not built. Run "npm run build" in its folder first.');
  process.exit(1);
}
const flags = ['--max-semi-space-size=16', '--heap-growing-percent=30', '--no-allocation-site-pretenuring'];
const settings = { NODE_ENV: 'production', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' };
become([...flags, main], { ...settings, ...process.env });
