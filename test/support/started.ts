import { readFileSync } from 'node:fs';

/** What `npm start` gives a server: Node's flags, and the settings of its allocator. */
export function startedWith(): { flags: string[]; settings: Record<string, string> } {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  const words = scripts.start.split(' ');
  const flags = words.filter((word) => word.startsWith('--'));
  return { flags, settings: Object.fromEntries(words.filter((word) => word.startsWith('MALLOC_')).map((word) => word.split('='))) };
}
