import { afterAll, beforeAll } from '@jest/globals';
import { Automations } from './automations.js';
import type { Account } from './seed.js';
import { server, type TestServer } from './server.js';

/** A server with an account that has automations, and them. */
export let api: TestServer;
export let acme: Account;
export let automations: Automations;

/** For the tests of one file. */
export function served(): void {
  beforeAll(async () => {
    api = await server();
    acme = await api.seed.account();
    automations = new Automations(acme, await acme.key());
  });
  afterAll(() => api.close());
}
