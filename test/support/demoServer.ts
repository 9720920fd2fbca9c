import { demoAccount } from '../../src/demo/demo.js';
import type { Client } from './client.js';
import { dataOf } from './seed.js';
import { server, type TestServer } from './server.js';

/** A server with the demo account, which has something in every domain, and a session of its owner. */
export async function demoServer(): Promise<{ crm: TestServer; demo: Client }> {
  const crm = await server({ config: { seedDemo: true } });
  const { email, password } = (await demoAccount(crm.app))!;
  const demo = crm.anybody();
  dataOf(await demo.post('/auth/login', { email, password }));
  return { crm, demo };
}
