import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './assets.js';

/** The chapters of the guide, in their order: the files of docs/guide. */
export const chapters = [
  'authentication',
  'errors',
  'paging',
  'idempotency',
  'events',
  'polling',
  'webhooks',
  'limits',
  'clients',
  'package',
] as const;

export interface Chapter {
  name: string;
  title: string;
  /** As HTML. */
  content: string;
}

let rendered: Promise<readonly Chapter[]> | undefined;

/** The guide, rendered when somebody first reads it. The files are ours: their HTML is taken as it is. */
export function guide(): Promise<readonly Chapter[]> {
  rendered ??= render();
  return rendered;
}

async function render(): Promise<readonly Chapter[]> {
  const { marked } = await import('marked');
  return Promise.all(
    chapters.map(async (name) => {
      const text = readFileSync(join(root, 'docs/guide', `${name}.md`), 'utf8');
      const title = /^# (.+)$/m.exec(text)![1]!;
      return { name, title, content: await marked.parse(text.replace(/\]\((\w+)\.md(#[\w-]+)?\)/g, '](/guide/$1$2)')) };
    }),
  );
}
