import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Suite } from './database.js';

export const readme = readFileSync('README.md', 'utf8');

/** A call of the README, as a shell and curl would understand it. */
export interface Call {
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Whether it goes on answering: `curl -N`. */
  stream: boolean;
}

/** The code blocks of a document in a language, the README's by default. */
export const codeBlocks = (language: string, document = readme): string[] =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);

/** `inShell(describe)('blocks', …)`: what is run as a shell does, left out where the machine lacks one of its commands. */
export const inShell = <F>(suite: Suite<F>): ((name: string, body: F) => void) =>
  ['bash', 'curl', 'jq'].every((command) => spawnSync(command, ['--version']).status === 0) ? suite : suite.skip;

/** Whether only a shell understands a block: it takes values out of answers, or talks to the simulators. `readme.test.ts` runs these. */
const isForShell = (block: string): boolean => /\bjq\b|127\.0\.0\.1:4010/.test(block);

/** The curl commands of a document's code blocks, the README's by default; `$(cat file)` is what `fileText` answers for the file. */
export function curlCalls(fileText: (name: string) => string, document = readme): Call[] {
  const blocks = codeBlocks('sh', document).filter((block) => !isForShell(block));
  const commands = blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n')).filter((line) => line.startsWith('curl '));
  return commands.map((command) => parse(command.replace(/\$\(cat ([^)]+)\)/g, (_, name: string) => fileText(name))));
}

/** Words in single quotes are taken as they are, those in double quotes lose the quotes. */
function parse(command: string): Call {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? '').slice(1);
  const call: Call = { url: '', headers: {}, stream: command.includes(' -N ') };
  while (words.length > 0) {
    const word = words.shift() ?? '';
    if (word === '-H') {
      const [name = '', value = ''] = (words.shift() ?? '').split(/: (.*)/);
      call.headers[name] = value;
    } else if (word === '-d') call.body = words.shift();
    else if (!word.startsWith('-')) call.url = word;
    else if (!/^-[sNi]+$/.test(word)) throw new Error(`The README's test does not know curl's ${word}`);
  }
  return call;
}
