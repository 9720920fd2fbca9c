import { AppError } from '../kernel/base/errors.js';
import { readSecret, writeSecret } from '../kernel/base/secretFile.js';
import type { App, Context } from '../kernel/context/context.js';
import { createKey } from '../modules/apiKeys/apiKey.service.js';
import { register } from '../modules/auth/auth.register.js';
import { logout } from '../modules/auth/auth.service.js';
import { verifyEmail } from '../modules/auth/auth.verification.js';
import { fill } from './fill.js';
import { addTeam } from './team.js';
import { isUnfinished, markFinished, markUnfinished } from './unfinished.js';
import { loggedIn, visitorOf, withMailbox } from './visitor.js';

/** How to get into the demo account; what is not kept in the data directory is absent. */
export interface DemoLogin {
  email: string;
  password?: string;
  key?: string;
  /** The id of its form. */
  form?: string;
}

const email = 'demo@example.com';

/**
 * The demo account: made on the first start of an empty database where SEED_DEMO says so, found again on later ones.
 * Undefined where there is none. A database that holds other accounts never gets one.
 */
export async function demoAccount(app: App): Promise<DemoLogin | undefined> {
  if (app.config.role === 'worker') return undefined;
  const demo = app.config.seedDemo ? await foundOrMade(app) : undefined;
  // From here on people may write into it, whole or not. On PostgreSQL another process may still be making it.
  if (app.database.kind === 'pglite') markFinished(app);
  return demo;
}

async function foundOrMade(app: App): Promise<DemoLogin | undefined> {
  if (await exists(app)) return kept(app);
  if ((await visitorOf(app).global.account.count()) > 0) return undefined;
  const password = app.clock.bytes(12).toString('base64url');
  await markUnfinished(app);
  const owner = await registered(app, password).catch(async (error: unknown) => {
    if (!(error instanceof AppError && (await exists(app)))) throw error;
  });
  if (!owner) {
    // Another process that started at the same moment was faster, and it is for that one to say whether it is whole.
    markFinished(app);
    return kept(app);
  }
  const made = await make(owner, password);
  markFinished(app);
  return made;
}

/** Past Prisma, whose engine would be loaded for it: most starts ask nothing else. */
async function exists({ database }: App): Promise<boolean> {
  const text = 'select count(*)::text from users where email_lower = $1';
  return (await database.text({ text, values: [email] })) !== '0';
}

async function kept(app: App): Promise<DemoLogin> {
  const { dataDir } = app.config;
  if (await isUnfinished(app)) app.log.warn('the demo account is not whole: a process is making it, or was ended while it did');
  const [password, key, form] = ['demo.password', 'demo.key', 'demo.form'].map((name) => readSecret(dataDir, name));
  return { email, password, key, form };
}

async function make(owner: Context, password: string): Promise<DemoLogin> {
  const { dataDir } = owner.app.config;
  const { secret: key } = await owner.transaction((inside) => createKey(inside, { name: 'Demo key', permission: 'admin' }));
  if (dataDir !== ':memory:') {
    writeSecret(dataDir, 'demo.password', password);
    writeSecret(dataDir, 'demo.key', key);
  }
  const form = await fill(owner, await addTeam(owner, password));
  if (dataDir !== ':memory:') writeSecret(dataDir, 'demo.form', form);
  await logout(owner);
  return { email, password, key, form };
}

/** Registers like anybody else, on the enterprise plan, so that no limit stands in the way of trying things out. */
async function registered(app: App, password: string): Promise<Context> {
  const config = { ...app.config, defaultPlan: 'enterprise' as const };
  const mailbox = withMailbox(app);
  const visitor = visitorOf({ ...mailbox.app, config });
  await register(visitor, { email, password, accountName: 'Northwind Demo', firstName: 'Dana', lastName: 'Okafor' });
  const token = await mailbox.token();
  await visitor.transaction((inside) => verifyEmail(inside, { token }));
  return loggedIn(app, visitor);
}
