import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Cruised, cruise } from './cruise.js';

/** A tree that breaks every rule once: file → what it imports. */
const offences: Record<string, string[]> = {
  'src/main.ts': ['./app.js', './nowhere.js'],
  'src/app.ts': ['./modules/dogs/dogs.module.js', './workers/walk.js', './rest/rows.js', './vendors/sms/live.js', './demo/fill.js', 'jest'],
  'src/dead.ts': [],
  'src/kernel/base/clock.ts': ['../../http/server.js'],
  'src/kernel/model/fields.ts': ['../context/context.js'],
  'src/kernel/context/context.ts': ['../model/fields.js'],
  'src/http/server.ts': ['../graphql/apollo.js', '../app.js'],
  'src/graphql/apollo.ts': ['../rest/rows.js', '../client/index.js'],
  'src/client/index.ts': ['../kernel/base/clock.js'],
  'src/rest/rows.ts': ['../modules/dogs/dog.model.js'],
  'src/vendors/sms/live.ts': ['../../modules/dogs/dog.service.js'],
  'src/demo/fill.ts': ['../modules/dogs/dog.resolver.js'],
  'src/workers/walk.ts': ['../modules/dogs/dog.resolver.js', 'undici', 'node:https'],
  'src/modules/cats/cat.resolver.ts': [],
  'src/modules/dogs/dog.model.ts': ['./dog.service.js'],
  'src/modules/dogs/dog.service.ts': ['./dog.resolver.js', '../cats/cat.resolver.js', 'fastify', '@prisma/client', '../../../test/tool.js'],
  'src/modules/dogs/dog.resolver.ts': ['./dogs.module.js', '../../http/server.js'],
  'src/modules/dogs/dogs.module.ts': ['./dog.resolver.js'],
  'src/front/page.ts': ['../rest/rows.js'],
  'test/tool.ts': [],
};

function offend(): Cruised {
  const directory = mkdtempSync(join(tmpdir(), 'offences-'));
  try {
    for (const [file, imports] of Object.entries(offences)) {
      mkdirSync(join(directory, dirname(file)), { recursive: true });
      const lines = imports.map((name, i) => `import { x as x${i} } from '${name}';`);
      writeFileSync(join(directory, file), [...lines, 'export const x = 1;', ''].join('\n'));
    }
    for (const name of ['fastify', '@prisma/client', 'jest', 'undici']) {
      mkdirSync(join(directory, 'node_modules', name), { recursive: true });
      writeFileSync(join(directory, 'node_modules', name, 'package.json'), JSON.stringify({ name, main: 'index.js', version: '1.0.0' }));
      writeFileSync(join(directory, 'node_modules', name, 'index.js'), 'exports.x = 1;');
    }
    const manifest = { dependencies: { fastify: '1', '@prisma/client': '1', undici: '1' }, devDependencies: { jest: '1' } };
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
    return cruise(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The folders of src/modules in the order of src/modules.ts. */
const registered = () => [...readFileSync('src/modules.ts', 'utf8').matchAll(/import\('\.\/modules\/(\w+)\//g)].map(([, folder]) => folder);

describe('who may import whom', () => {
  const seen = cruise();

  it('is kept by every file of the sources', () => {
    const { summary, modules } = seen;
    const under = (folder: string) => modules.filter(({ source }) => source.startsWith(folder)).length;
    // dependency-cruiser without a parser that it can use sees nothing and is content
    expect(under('src/')).toBeGreaterThan(40);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  it('is stated by rules that all bite', () => {
    const broken = new Set(offend().summary.violations.map(({ rule }) => rule.name));
    const stated = [...readFileSync('.dependency-cruiser.cjs', 'utf8').matchAll(/forbid\(\s*'([\w-]+)'/g)].map((m) => m[1]);
    expect(stated.length).toBeGreaterThan(15);
    expect([...broken].sort()).toEqual(stated.sort());
  });

  it('lets a module build only on modules registered before it', () => {
    const order = registered();
    const moduleOf = (path: string) => /^src\/modules\/(\w+)\//.exec(path)?.[1];
    const backward = seen.modules.flatMap(({ source, dependencies }) => {
      const own = moduleOf(source);
      const others = dependencies.flatMap(({ resolved }) => moduleOf(resolved) ?? []);
      return own ? others.filter((other) => order.indexOf(other) > order.indexOf(own)).map((other) => `${source} → ${other}`) : [];
    });
    expect(order.length).toBeGreaterThan(3);
    expect(backward).toEqual([]);
  });
});
