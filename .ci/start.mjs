/**
 * `npm start`: builds what has changed, then becomes Node with the arguments that are given. Those like NAME=value come first and are
 * settings where the environment has none: no shell is needed, which is another one on each system.
 */
import { become } from '../bin/become.mjs';

await import('./build.mjs');

const given = process.argv.slice(2);
const isSetting = (word) => /^[A-Z_]+=/.test(word);
const first = given.findIndex((word) => !isSetting(word));
const settings = given.slice(0, first).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
const missing = settings.filter(([name]) => !process.env[name]);
become(given.slice(first), { ...process.env, ...Object.fromEntries(missing) });
