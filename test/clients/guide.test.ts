import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { environment } from '../../src/kernel/base/environment.js';
import { codeMeanings } from '../../src/kernel/base/errorMeanings.js';
import { type ErrorCode, statusOf } from '../../src/kernel/base/errors.js';
import { maxPageSize } from '../../src/kernel/model/connection.js';
import { sessionLife } from '../../src/modules/auth/auth.session.js';

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

describe('the chapter on errors', () => {
  it('says what to do about every status, and what every code means', () => {
    const rows = [...chapter('errors').matchAll(/^\| (.+?) +\|$/gm)].map(([, row]) => row!.split(/ +\| /));
    const statuses = [...new Set(Object.values(statusOf))].map(String);
    expect(rows.filter(([status]) => /^\d+$/.test(status!)).map(([status]) => status)).toEqual(statuses);
    const codes = Object.entries(codeMeanings).map(([code, meaning]) => [`\`${code}\``, String(statusOf[code as ErrorCode]), meaning]);
    expect(rows.filter(([code]) => code!.startsWith('`')).toSorted()).toEqual(codes.toSorted());
  });

  it('says where the field at fault is named for programs', () => {
    expect(chapter('errors')).toContain('details[].code');
  });
});

it('the chapter on safe retries says that they are of POST alone, and what other methods answer', () => {
  const text = chapter('idempotency');
  for (const words of ['With an `Idempotency-Key` a POST is sent again', 'Of other methods the header is not read'])
    expect(text).toContain(words);
});

describe('the chapter on polling', () => {
  const text = chapter('polling');

  it('has n8n ask for the largest page, and again while more events wait', () => {
    expect(text).toContain(`/api/v1/events?per_page=${maxPageSize}`);
    const [, code = ''] = /^ {3}```js\n([\s\S]+?)^ {3}```$/m.exec(text) ?? [];
    const node = new Function('$input', '$getWorkflowStaticData', '$runIndex', code) as (...given: unknown[]) => unknown;
    const kept: { position?: string } = {};
    const answer = (next_cursor: string | null, run: number) => {
      const page = { json: { data: { data: [], meta: { position: '7', next_cursor } } } };
      return node({ first: () => page }, () => kept, run);
    };
    expect(answer('more', 0)).toEqual([{ json: { after: '7' } }]);
    expect(kept).toEqual({ position: '7' });
    expect([answer('more', 9), answer(null, 0)]).toEqual([[], []]);
  });
});

describe('the chapter on authentication', () => {
  const text = chapter('authentication');

  it('tells of the second step of a login, and how long a session lasts', () => {
    for (const words of ['mfaRequired', 'mfaToken', 'mfaSetupRequired', '`POST /api/v1/auth/mfa/verify`']) expect(text).toContain(words);
    expect(sessionLife).toBe(7 * 24 * 3_600_000);
    expect(text).toContain('A session ends after seven days without a request');
  });
});
