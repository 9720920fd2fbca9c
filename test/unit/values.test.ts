import { describe, expect, it } from '@jest/globals';
import { inForm } from '../../src/kernel/base/unicode.js';
import type { Context } from '../../src/kernel/context/context.js';
import * as values from '../../src/kernel/model/checks.js';
import { jsonFault } from '../../src/kernel/model/jsonFault.js';
import fc from '../support/property.js';

const ctx = { account: { defaultCountry: 'US' } } as Context;

/** What a check makes of a value, and what it reports. */
function checked(check: values.Check, value: unknown): { value: unknown; faults: string[] } {
  const faults: string[] = [];
  return { value: check(value, 'field', (at, _code, message) => faults.push(`${at} ${message}`), ctx), faults };
}
const good = (check: values.Check, value: unknown) => {
  const { value: cleaned, faults } = checked(check, value);
  expect(faults).toEqual([]);
  return cleaned;
};
const isBad = (check: values.Check, value: unknown) => checked(check, value).faults.length > 0;

describe('text', () => {
  it('is trimmed, and nothing when it is empty', () => {
    expect(good(values.text(5), ' a b ')).toBe('a b');
    for (const empty of ['', ' ', '\t\n', '\u00a0']) expect(good(values.text(5), empty)).toBeNull();
  });

  it('is measured in characters', () => {
    const property = fc.property(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 }), fc.nat(20), (text, max) => {
      const length = [...text.trim()].length;
      expect(isBad(values.text(max), text)).toBe(length > max);
    });
    fc.assert(property);
    expect(good(values.text(2), '😀😀')).toBe('😀😀');
    expect(isBad(values.text(2), '😀😀😀')).toBe(true);
  });

  it('has as many characters as it needs, where it is anything', () => {
    for (const short of ['a', ' a ', '😀']) expect(isBad(values.text(9, 2), short)).toBe(true);
    for (const long of ['ab', '😀😀']) expect(good(values.text(9, 2), long)).toBe(long);
    expect(good(values.text(9, 2), ' ')).toBeNull();
  });

  it('is one sign where an accent stands apart, and as it was given where marks are piled up', () => {
    const piled = (marks: number) => `e${'\u0301'.repeat(marks)}`;
    expect(good(values.text(99), piled(30))).toBe(`é${'\u0301'.repeat(29)}`);
    expect(good(values.text(99), `e\u0301 ${piled(31)}`)).toBe(`e\u0301 ${piled(31)}`);
  });

  it('of marks alone is refused as soon as any other that is too long', () => {
    const begun = performance.now();
    expect(isBad(values.text(99), '\u0301\u0327'.repeat(100_000))).toBe(true);
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  it('is brought into no form where what becomes marks in it is piled up', () => {
    const piled = (marks: number) => `\uFF76${'\u0301\uFF9E'.repeat(marks)}`;
    expect(inForm(piled(15), 'NFKD')).toBe(piled(15).normalize('NFKD'));
    expect(inForm(piled(16), 'NFKD')).toBe(piled(16));
    const begun = performance.now();
    for (const marks of ['\u0301\uFF9E', '\uFF9F\u0327']) inForm(marks.repeat(20_000), 'NFKD');
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  it('holds no NUL and no half of a pair, and any other text', () => {
    for (const text of ['\0', 'a\0', '\ud800', '\udc00\ud800']) expect(isBad(values.text(9), text)).toBe(true);
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => isBad(values.text(99), text) === text.includes('\0')));
  });
});

describe('an e-mail address', () => {
  it.each(['a@b.co', 'first.last+tag@sub.example.com', 'ü@exämple.de', `${'a'.repeat(64)}@example.com`])('is %s', (address) => {
    expect(good(values.email, ` ${address} `)).toBe(address);
  });

  it.each(['संपर्क@उदाहरण.भारत', 'ติดต่อ@ตัวอย่าง.ไทย', 'தொடர்பு@example.com'])('is %s, whose letters have marks', (address) => {
    expect(good(values.email, address)).toBe(address);
  });

  it.each([
    '\u0902a@b.de',
    'a.\u0902b@b.de',
    '1\u0301@b.de',
    `${'क'.repeat(64)}\u093f@b.de`,
    'a@\u0902b.de',
    'a@b-\u0902c.de',
    'a@b.\u0902de',
  ])('is not %j: a mark stands behind a letter and counts as one', (address) => {
    expect(isBad(values.email, address)).toBe(true);
  });

  it.each([
    ...['a', '@b.co', 'a@', 'a@b', 'a b@c.de', 'a@b c.de', 'a@b..de', 'a@-b.de', 'a@b-.de', 'a@b.c', '"a b"@c.de', 'a@[127.0.0.1]'],
    ...['ab.cd', 'a@b@c.de'],
    ...['a@b.de,c@d.de', 'a@b.de;c@d.de', 'a@b.de\r\nBcc: c@d.de', 'A <a@b.de>', '"a@evil x"@b.co', `${'a'.repeat(65)}@b.de`],
    `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}.de`,
  ])('is not %j', (address) => {
    expect(isBad(values.email, address)).toBe(true);
  });
});

describe('a phone number', () => {
  it.each([
    ['(415) 555-0123', '+14155550123'],
    ['+1 415.555.0123', '+14155550123'],
    ['+44 20 7946 0958', '+442079460958'],
    ['tel:+14155550123', '+14155550123'],
  ])('is kept of %s as %s', (given, kept) => {
    expect(good(values.phone, given)).toBe(kept);
  });

  it.each(['1', 'phone', '+1', '+999999999999999999', '+14155550123;ext=5', '٣'])('is not %s', (given) => {
    expect(isBad(values.phone, given)).toBe(true);
  });
});

describe('a moment', () => {
  it.each(['2026-02-28', '2024-02-29', '2026-01-01T00:00', '2026-01-01T00:00:00.123Z', '2026-01-01 10:00:00+02:00', '0001-01-01'])(
    'is %s',
    (text) => {
      expect(good(values.moment, text)).toBe(text);
    },
  );

  it.each(['2026-02-29', '2026-13-01', '2026-1-1', '0000-01-01', 'now', '2026-01-01T25:00Z', '2026-01-01T10:00:00+99:00', '1767225600'])(
    'is not %s',
    (text) => {
      expect(isBad(values.moment, text)).toBe(true);
    },
  );
});

describe('a decimal', () => {
  it.each([
    ['0', '0.00'],
    ['-0', '0.00'],
    ['1.5', '1.50'],
    ['-1.50', '-1.50'],
    ['9999999999999999.99', '9999999999999999.99'],
    ['00012.3', '12.30'],
    ['1.2300000', '1.23'],
  ])('of two places is kept of %s as %s', (given, kept) => {
    expect(good(values.decimal({ scale: 2 }), given)).toBe(kept);
  });

  it.each(['0.001', '10000000000000000', '-1', '-0.01', '1000.01'])('of two places from nought to a thousand is not %s', (text) => {
    expect(isBad(values.decimal({ scale: 2, min: 0, max: 1000 }), text)).toBe(true);
  });
});

describe('a list', () => {
  it('names the member at fault, and takes no empty one', () => {
    const tags = values.list(3, values.text(2));
    expect(good(tags, [' a ', 'b'])).toEqual(['a', 'b']);
    expect(checked(tags, ['a', 'abc', ' ', null]).faults).toEqual(['field must have at most 3 items']);
    expect(checked(tags, ['abc', ' ', null]).faults).toEqual([
      'field.0 must be at most 2 characters',
      'field.1 must not be empty',
      'field.2 must not be empty',
    ]);
  });
});

describe('a JSON object', () => {
  const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as unknown;

  it('is nested 32 levels at most', () => {
    expect(jsonFault(nested(32))).toBeUndefined();
    expect(jsonFault(nested(33))?.message).toMatch(/32 levels/);
  });

  it('holds no NUL and no half of a pair, in keys or in values', () => {
    for (const value of ['\0', ['\0'], { a: ['\ud800'] }, { '\0': 1 }]) expect(jsonFault(value)?.message).toMatch(/Unicode/);
  });

  it('has no member that would be the prototype of an object, at any depth', () => {
    for (const poison of ['{"__proto__":1}', '{"constructor":{"prototype":1}}'])
      for (const value of [poison, `{"a":${poison}}`, `{"a":[${poison}]}`])
        expect(checked(values.jsonObject(64), JSON.parse(value)).faults).toEqual([
          'field must not have a member called __proto__, or a constructor with a prototype',
        ]);
    const plain = { constructor: { name: 'Kahn' }, prototype: 'the first', toString: 'x', list: ['__proto__'] };
    expect(good(values.jsonObject(1024), plain)).toBe(plain);
  });

  it('is too large from a byte over its kilobytes', () => {
    const check = values.jsonObject(64);
    const fill = (bytes: number) => ({ k: 'x'.repeat(bytes - '{"k":""}'.length) });
    expect(good(check, fill(64))).toEqual(fill(64));
    expect(() => checked(check, fill(65))).toThrow(expect.objectContaining({ status: 413, field: 'field' }));
  });
});
