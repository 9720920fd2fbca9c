import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Documents } from '../support/documents.js';
import { type Filled, fill } from '../support/filled.js';
import { server, type TestServer } from '../support/index.js';

/** SOAK_INPUTS: random documents; SOAK_SEED: the seed of an earlier run. */
const { SOAK_INPUTS = '20000', SOAK_SEED = String(Date.now() & 0x7fffffff) } = process.env;
const [inputs, seed] = [Number(SOAK_INPUTS), Number(SOAK_SEED)];

jest.setTimeout(120_000 + inputs * 100);

let api: TestServer;
let filled: Filled;
beforeAll(async () => {
  console.log(`SOAK_SEED=${seed}: ${inputs} documents`);
  api = await server();
  filled = await fill(await api.seed.account());
});
afterAll(() => api.close());

it('any document with any arguments of any lists in each other is answered or refused, and no answer is over its budget', async () => {
  const documents = new Documents(api.schema, filled.ids, undefined, true);
  const { records, bytes } = api.app.config.graphql;
  const counts = { answered: 0, inPart: 0, refused: 0 };
  const property = fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 5, maxLength: 60 }), async (choices) => {
    const payload = JSON.stringify({ query: documents.query(choices) });
    const reply = await filled.caller.raw({ method: 'POST', path: '/graphql', payload, headers: { 'content-type': 'application/json' } });
    const { data, errors = [], extensions } = reply.body;
    const statuses = errors.map((error: { extensions: { status: number } }) => error.extensions.status);
    if (reply.status >= 500 || statuses.some((status: number) => !(status < 500)))
      throw new Error(`${payload} → ${reply.text.slice(0, 2000)}`);
    expect(extensions.cost.records).toBeLessThanOrEqual(data ? records : Number.POSITIVE_INFINITY);
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(bytes + 100_000);
    counts[!data ? 'refused' : errors.length > 0 ? 'inPart' : 'answered']++;
  });
  await fc.assert(property, { seed, numRuns: inputs, endOnFailure: true });
  console.log(counts);
  expect(counts.answered).toBeGreaterThan(inputs / 10);
});

it('and nothing was left unhandled', () => {
  expect(api.logs.filter((line) => /unhandled|uncaught/.test(line))).toEqual([]);
});
