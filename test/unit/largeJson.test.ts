import { describe, expect, it } from '@jest/globals';
import { inOneTurn, parseLarge } from '../../src/http/largeJson.js';
import fc from '../support/property.js';
import { elapsed, least } from '../support/time.js';

const parse = (text: string) => parseLarge(text, (part) => JSON.parse(part));
/** Longer than what is parsed at once, so that what holds it is taken apart. */
const long = 'x'.repeat(inOneTurn);

describe('a long JSON text', () => {
  it('is what JSON.parse makes of it, whatever is in it and between it', async () => {
    const blank = fc.stringMatching(/^[ \t\n\r]{0,3}$/);
    const property = fc.asyncProperty(
      fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
      blank,
      fc.nat(8),
      async (value, space, indent) => {
        const nested = { [`"\\${space}`]: [value, long, { value, deep: [[value, { long }], []] }], empty: {}, value };
        const text = space + JSON.stringify(nested, null, indent) + space;
        expect(await parse(text)).toEqual(JSON.parse(text));
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  it('may be one text, whatever it escapes where', async () => {
    const signs = fc.constantFrom('a', 'u', '\\\\', '\\n', '\\"', '\\u0041', '\\ud83d\\ude00', '\\u005c', '😀', 'ä', 'u0041');
    const property = fc.asyncProperty(fc.array(signs, { minLength: 1, maxLength: 12 }), fc.nat(12), async (some, shift) => {
      const round = some.join('');
      const text = `["${'x'.repeat(shift)}${round.repeat(Math.ceil((3 * inOneTurn) / round.length))}"]`;
      expect((await parse(text)) as string[]).toEqual(JSON.parse(text));
    });
    await fc.assert(property, { numRuns: 100 });
  });

  it('may have no name that is long itself', async () => {
    await expect(parse(`{"${long}":1}`)).rejects.toThrow(`The body has a name of more than ${inOneTurn} characters`);
  });

  it('is refused where JSON.parse refuses it', async () => {
    const texts = [
      ...[`{"a":"${long}"`, `{"a":"${long}",}`, `{"a":"${long}"]`, `["${long}",]`, `["${long}",,1]`, `["${long}"}`, `["${long}" 1]`],
      ...[`{"a" "${long}"}`, `{a:"${long}"}`, `{"a":"${long}","b"}`, `{"a":"${long}","b":}`, `["${long}]`, `["${long}"]]`, `[["${long}"]`],
      ...[`["${long}"],["a"]`, `["${long}\n"]`, `{"a":["${long}",{]}}`, `"${long}`, `${long}`, `{"\n":"${long}"}`, `["${long}"]x`],
      ...[`["${long}\\"]`, `["${long}\\x${long}"]`, `["${long}\\u12"]`, `["${long}"${long}"]`, `["${long}" "${long}"]`, `{"${long}\\":1}`],
    ];
    for (const text of texts) {
      expect(() => JSON.parse(text)).toThrow();
      await expect(parse(text)).rejects.toThrow();
    }
  });

  it('brings no prototype in', async () => {
    await expect(parse(`{"__proto__":{"a":"${long}"}}`)).rejects.toThrow(/called __proto__/);
    await expect(parse(`{"\\u005f_proto__":{"a":"${long}"}}`)).rejects.toThrow(/called __proto__/);
    await expect(parse(`{"a":{"constructor":{"prototype":{"a":"${long}"}}}}`)).rejects.toThrow(/called __proto__/);
  });
});

describe('of a long JSON text', () => {
  it('what holds far too much in one list or object is refused by the name of that', async () => {
    await expect(parse(`{"a":{"b":[${'1234567,'.repeat(20_001)}1]}}`)).rejects.toMatchObject({
      details: [{ field: 'a.b', code: 'too_many' }],
    });
    expect(await parse(`[${'1234567,'.repeat(19_999)}1]`)).toHaveLength(20_000);
    const objects = (names: number) =>
      `{"a":[${Array.from({ length: names / 10 }, (_, n) => `{${Array.from({ length: 10 }, (_, m) => `"name ${n} ${m}":1`)}}`)}]}`;
    await expect(parse(objects(20_010))).rejects.toMatchObject({ details: [{ field: 'a', code: 'too_many' }] });
    expect(await parse(objects(20_000))).toEqual(JSON.parse(objects(20_000)));
  });

  it('what nests far too deep is refused before it is taken apart', async () => {
    const refuse = () =>
      expect(parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).rejects.toThrow('The body nests deeper than 64 levels');
    expect(await least(3, () => elapsed(refuse))).toBeLessThan(1000);
  });

  it('is told where the parts stand, and how deep', async () => {
    const places: string[] = [];
    await parseLarge(`{"a":[1,{"b":"${long}","c":null}]}`, (part, at, level) => {
      places.push(`${at} ${level}`);
      return JSON.parse(part);
    });
    expect(places).toEqual(['a.0 2', 'a.1.c 3']);
  });
});
