import { join, relative } from 'node:path';
import type { DemoLogin } from './demo/demo.js';
import type { App } from './kernel/context/context.js';

/** What a person at the terminal wants to know of a server that has just begun to listen. */
export function banner({ config, database }: App, address: string, demo: DemoLogin | undefined): string {
  const place = database.kind === 'postgres' ? 'PostgreSQL' : `embedded database in ${shortened(config.dataDir)}`;
  const lines = [
    `CRM server ready: ${place}`,
    '',
    ...(config.pages ? [`  Pages     ${address}/`] : []),
    `  REST      ${address}/api/v1`,
    `  GraphQL   ${address}/graphql`,
    `  Health    ${address}/healthz`,
    ...(config.board ? [`  Board     ${address}/board`] : []),
    ...(demo ? demoLines(demo, address, config.dataDir) : []),
  ];
  return `\n${lines.join('\n')}\n\n`;
}

function demoLines({ email, password, key, form }: DemoLogin, address: string, dataDir: string): string[] {
  const file = join(shortened(dataDir), 'demo.key');
  const shown = dataDir === ':memory:' ? key : `$(cat ${quoted(file)})`;
  const call = `curl -H "Authorization: Bearer ${shown}" "${address}/api/v1/contacts?per_page=3"`;
  return [
    '',
    `  Demo login  ${email}, password ${password ?? '(not kept here)'}`,
    ...(key ? [`  Demo key    ${dataDir === ':memory:' ? key : file}`, `  Try it      ${call}`] : []),
    ...(form ? [`  Demo form   ${address}/f/${form}`] : []),
  ];
}

/** A path as it is typed from here, when it lies below. */
function shortened(path: string): string {
  if (path === ':memory:') return 'memory (nothing is kept)';
  const below = relative(process.cwd(), path);
  return below.startsWith('..') ? path : below || '.';
}

/** A path as a shell takes it for one word. */
const quoted = (path: string) => (/^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
