import { afterAll, beforeAll, expect, it } from '@jest/globals';
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
