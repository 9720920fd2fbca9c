import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { environment } from '../../src/kernel/base/environment.js';

const chapter = (name: string) => readFileSync(`docs/guide/${name}.md`, 'utf8');

describe('the chapter on limits', () => {
  it('names each limit that is met without a setting, with its number', () => {
    const limits = environment.parse({});
    const text = chapter('limits');
    for (const words of [
      `${limits.RATE_LIMIT_KEY} requests a minute`,
      `${limits.RATE_LIMIT_GRAPHQL} documents of GraphQL a minute`,
      `${limits.RATE_LIMIT_GENERAL} requests in 15 minutes`,
    ])
      expect(text).toContain(words);
    const rows = [...text.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].slice(2).map(([, , most]) => most);
    expect(rows).toEqual([
      `${limits.RATE_LIMIT_CREATE} a minute`,
      `${limits.RATE_LIMIT_IMPORT} a minute`,
      `${limits.RATE_LIMIT_LOGIN} in 15 minutes`,
      `${limits.RATE_LIMIT_REGISTER} an hour`,
      `${limits.RATE_LIMIT_SECURITY} a minute each`,
      `${limits.RATE_LIMIT_FORM} a minute`,
    ]);
  });
});
