import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { least, processorTime, server, type TestServer } from '../support/index.js';

let live: TestServer;
beforeAll(async () => {
  live = await server({ config: { production: true } });
});
afterAll(() => live.close());

it('a stranger whose document says "Did you mean" seven thousand times is refused as quickly as anybody', async () => {
  const send = (words: string) => async () => {
    const { errors } = await live.anybody().gql(`{ "${words.repeat(Math.floor(99_000 / words.length))}" }`);
    expect(errors?.[0].message).toContain(`Expected Name, found String "${words}`);
  };
  const usual = await least(3, () => processorTime(send(' Do you mean  ')));
  expect(await least(3, () => processorTime(send(' Did you mean ')))).toBeLessThan(usual * 5 + 50);
});

it('a stranger is given no hint, and the rest of the message as it is', async () => {
  const login = (email: string) => live.anybody().gql(`mutation { login(input: { ${email}: "x", password: "x" }) { user { id } } }`);
  const { errors } = await login('emial');
  expect(errors?.length).toBeGreaterThan(0);
  for (const { message } of errors!) expect(message).not.toContain('Did you mean');
});

describe('a refusal quotes no more than the beginning of', () => {
  const long = 'x'.repeat(90_000);
  const send = (body: object) =>
    live.anybody().raw({
      method: 'POST',
      path: '/graphql',
      payload: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });

  it.each([
    ['a text in the place of a name', { query: `{ "${long}" }` }, 'Syntax Error: Expected Name, found String "xxx'],
    ['a name in the place of a bracket', { query: `query A ${long}` }, 'Syntax Error: Expected "{", found Name "xxx'],
    ['a name in the place of an operation', { query: long }, 'Syntax Error: Unexpected Name "xxx'],
    ['a name of no field', { query: `mutation { login(input: { ${long}: "x" }) { user { id } } }` }, 'xxx'],
    ['a name of no operation', { query: '{ __typename }', operationName: long }, 'There is no operation called xxx'],
  ])('%s', async (_what, body, begin) => {
    const { text, body: reply } = await send(body);
    const messages: string[] = reply.errors.map(({ message }: { message: string }) => message);
    expect(messages.filter((message) => message.startsWith(begin) && message.endsWith('x…'))).toHaveLength(1);
    expect(text.length).toBeLessThan(10_000);
  });
});
