import type { App } from '../kernel/context.js';
import { Context } from '../kernel/context.js';
import { readSecret, writeSecret } from '../kernel/secretFile.js';
import { createKey } from '../modules/apiKeys/apiKey.service.js';
import { identify } from '../modules/auth/auth.identify.js';
import { logout, register } from '../modules/auth/auth.service.js';
import { fill } from './fill.js';

/** How to get into the demo account; what is not kept in the data directory is absent. */
export interface DemoLogin {
  email: string;
  password?: string;
  key?: string;
}

const email = 'demo@example.com';
const request = () => ({ id: 'demo', ip: '127.0.0.1' });

/**
 * The demo account: made on the first start of an empty database where SEED_DEMO says so, found again on later ones.
 * Undefined where there is none. A database that holds other accounts never gets one.
 */
export async function demoAccount(app: App): Promise<DemoLogin | undefined> {
  if (!app.config.seedDemo || app.config.role === 'worker') return undefined;
  const anybody = new Context(app, request(), null);
  if (await exists(anybody)) return kept(app);
  if ((await anybody.global.account.count()) > 0) return undefined;
  try {
    return await make(app);
  } catch (error) {
    // another process that started at the same moment was faster
    if (await exists(anybody)) return kept(app);
    throw error;
  }
}

const exists = (ctx: Context) => ctx.global.user.findUnique({ where: { emailLower: email } });

function kept({ config: { dataDir } }: App): DemoLogin {
  return { email, password: readSecret(dataDir, 'demo.password'), key: readSecret(dataDir, 'demo.key') };
}

async function make(app: App): Promise<DemoLogin> {
  const password = app.clock.bytes(12).toString('base64url');
  const owner = await registered(app, password);
  const { key } = await owner.transaction((inside) => createKey(inside, { name: 'Demo key', permission: 'admin' }));
  if (app.config.dataDir !== ':memory:') {
    writeSecret(app.config.dataDir, 'demo.password', password);
    writeSecret(app.config.dataDir, 'demo.key', key);
  }
  await fill(owner);
  await logout(owner);
  return { email, password, key };
}

/** Registers like anybody else, on the enterprise plan, so that no limit stands in the way of trying things out. */
async function registered(app: App, password: string): Promise<Context> {
  const config = { ...app.config, defaultPlan: 'enterprise' as const };
  const visitor = new Context({ ...app, config }, request(), null);
  await register(visitor, { email, password, accountName: 'Northwind Demo', firstName: 'Dana', lastName: 'Okafor' });
  const { principal, refusal } = await identify(app, { cookie: visitor.request.session?.token, ip: visitor.request.ip });
  if (!principal) throw refusal ?? new Error('The demo account cannot log in');
  return new Context(app, request(), principal);
}
