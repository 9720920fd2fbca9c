import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readme } from '../support/readme.js';

describe('the README', () => {
  it('explains every variable that the configuration reads', () => {
    const names = [...readFileSync('src/kernel/base/config.ts', 'utf8').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });

  it('names scripts and places that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const called = [...`${readme}${readFileSync('CONTRIBUTING.md', 'utf8')}`.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
    expect(called.length).toBeGreaterThan(5);
    expect(called.filter((name) => !scripts[name])).toEqual([]);
    const places = [...readme.matchAll(/^\| `([\w./]+)`/gm)].map(([, place = '']) => place).filter((place) => place.includes('/'));
    expect(places.length).toBeGreaterThan(5);
    expect(places.filter((place) => !existsSync(place))).toEqual([]);
  });
});
