import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, server, type TestServer } from '../support/index.js';
import { serverGlobal } from '../support/serverGlobal.js';

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

/** The code of every function that the server makes of texts meanwhile. */
function codeMade(): string[] {
  const code: string[] = [];
  const made = serverGlobal.Function;
  beforeAll(() => {
    serverGlobal.Function = new Proxy(made, {
      apply(target, _, args: string[]) {
        code.push(args.join());
        return target(...args);
      },
      construct(target, args: string[]) {
        code.push(args.join());
        return new target(...args);
      },
    });
  });
  afterAll(() => {
    serverGlobal.Function = made;
  });
  return code;
}

describe('the code that is made of a document', () => {
  const code = codeMade();
  const run = async (text: string, variables?: Record<string, unknown>) => {
    code.length = 0;
    const { data, errors } = await acme.owner.gql(text, variables);
    expect(errors).toBeUndefined();
    // The answer's own names are in it: it was made of this document.
    for (const name of Object.keys(data)) expect(code.some((made) => made.includes(name))).toBe(true);
    expect(code.join()).not.toMatch(/Literal|4711/);
    return data;
  };

  it('holds no literal of an input', async () => {
    const input = '{firstName: "Literal", jobTitle: $title, customFields: {key: "Literal", list: [4711, $title]}}';
    const { marked } = await run(
      `mutation ($title: String) { marked: createContact(input: ${input}) { firstName jobTitle customFields } }`,
    );
    expect(marked).toEqual({ firstName: 'Literal', jobTitle: null, customFields: { key: 'Literal', list: [4711, null] } });
  });

  it('holds no literal of a filter, at whatever depth, in fragments too', async () => {
    const list = 'marked: contacts(page: 1, filter: {search: "Literal"}) { nodes { ...Tasks } }';
    const text = `{ me { user { id } } ${list} } fragment Tasks on Contact { tasks(filter: {search: "Literal 4711"}) { totalCount } }`;
    const { marked } = await run(text);
    expect(marked.nodes).toEqual([{ tasks: { totalCount: 0 } }]);
  });

  it('holds no default value of a variable', async () => {
    const text = 'query ($name: String = "Literal") { me { user { id } } marked: contacts(filter: {search: $name}) { totalCount } }';
    expect((await run(text)).marked).toEqual({ totalCount: 1 });
    const { data } = await acme.owner.gql(text, { name: 'Other' });
    expect(data.marked).toEqual({ totalCount: 0 });
  });
});
