import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, server, type TestServer } from '../support/index.js';

declare const importBuilt: <T>(name: string) => Promise<T>;
// The server as the build left it has globals of its own.
const { constructor: make } = (await importBuilt<{ default: NodeJS.Process }>('node:process')).default.emitWarning;
const serverGlobal = make('return globalThis')() as Record<string, unknown>;

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** The words by which the installed library marks what is to be code, where it makes code of a document. */
const source = readFileSync(new URL('../../node_modules/graphql-jit/dist/execution.js', import.meta.url), 'utf8');
const marks = [...source.matchAll(/^const MAGIC_\w+ = "([^"]+)";$/gm)].map(([, mark]) => mark!);
const code = 'globalThis.wasInjected=1';

describe('a literal that the library would take for code', () => {
  it('is one of those that begin alike', () => {
    expect(marks).toHaveLength(4);
    expect(source.match(/\bMAGIC_\w+ = /g)).toHaveLength(4);
    for (const mark of marks) expect(mark.startsWith('__MAGIC_')).toBe(true);
  });

  it.each(marks)('is refused, whoever sends it and however it is written: %s', async (mark) => {
    const escaped = mark.replaceAll('_', '\\u005f');
    for (const text of [mark, `${mark}${code}`, ` ${mark}${code}`, `${escaped}${code}`, `""${mark}${code}""`]) {
      const stranger = await api.anybody().gql(`mutation { forgotPassword(input: {email: "${text}"}) { success } }`);
      expectGraphQLRefusal(stranger, 400);
      expectGraphQLRefusal(await acme.owner.gql(`mutation { createContact(input: {firstName: "${text}"}) { id } }`), 400);
    }
    const named = `mutation { createContact(input: {firstName: "A", customFields: {${mark}${'x'}: 1}}) { id } }`;
    expectGraphQLRefusal(await acme.owner.gql(named), 400);
    const byDefault = `query ($search: String = "${mark}${code}") { contacts(filter: {search: $search}) { totalCount } }`;
    expectGraphQLRefusal(await acme.owner.gql(byDefault), 400);
    expect(serverGlobal.wasInjected).toBeUndefined();
  });

  it.each(marks)('is a text like any other as a variable, and through REST: %s', async (mark) => {
    const firstName = `${mark}${code}`;
    const { data } = await acme.owner.gql('mutation ($firstName: String) { createContact(input: {firstName: $firstName}) { firstName } }', {
      firstName,
    });
    expect(data.createContact.firstName).toBe(firstName);
    expect(dataOf(await acme.owner.post('/contacts', { firstName })).firstName).toBe(firstName);
    expect(serverGlobal.wasInjected).toBeUndefined();
  });
});
