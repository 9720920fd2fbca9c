import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { contract } from '../../src/app.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { placesOf } from '../support/badValues.js';
import { type Account, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Days and moments that look like some and are beyond what can be kept. */
const beyond = ['0000-01-01', '0000-12-31', '-0001-01-01', '10000-01-01', '+010000-01-01', '99999-12-31'];
const moments = beyond.map((day) => `${day}T00:00:00Z`);

const isDate = (name: string) => /(date|At|Until|From|To|After|Before)$/i.test(name) && !/^assigned/.test(name);

const writing = contract().endpoints.flatMap((bound) => {
  const input = bound.field?.args.find((arg) => arg.name === 'input');
  const places = input ? placesOf(getNamedType(input.type) as GraphQLInputObjectType) : [];
  const dates = places.filter(
    ({ path, type }) => path.length === 1 && isDate(path[0]!) && /^(String|LocalDate|DateTimeISO)/.test(String(type)),
  );
  return dates.length > 0 ? [[bound.address, bound.endpoint, dates.map(({ path }) => path[0]!)] as const] : [];
});

it.each(writing)('%s names the date that is out of range', async (address, endpoint, names) => {
  const sample = await sampleOf(address, acme);
  await expectNothingWritten(api, async () => {
    for (const name of names) {
      for (const value of [...beyond, ...moments]) {
        const reply = await (sample.as ?? acme.owner).send(endpoint.method, pathOf(endpoint.path, sample), {
          ...sample.body,
          [name]: value,
        });
        expectRefusal(reply, 400, name);
      }
    }
  });
});

const listing = contract().endpoints.flatMap(({ endpoint, targets, address }) => {
  const dates = [...targets.keys()].filter((name) => isDate(name) && !/^(?:after|before)$/.test(name));
  return endpoint.list && !endpoint.path.includes('{') && dates.length > 0 ? [[address, endpoint, dates] as const] : [];
});

it.each(listing)('%s names the bound that is out of range', async (_address, endpoint, names) => {
  for (const name of names) {
    for (const value of [...beyond, ...moments]) {
      expectRefusal(await acme.owner.get(`${endpoint.path}?${name}=${encodeURIComponent(value)}`), 400, name);
    }
    for (const value of ['0001-01-01', '9999-12-31', '9999-12-31T23:59:59.999Z']) {
      expect((await acme.owner.get(`${endpoint.path}?${name}=${value}`)).status).toBe(200);
    }
  }
});
