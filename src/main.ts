import module from 'node:module';
import { getPriority, setPriority } from 'node:os';
import type { Server } from './app.js';
import { readConfig } from './kernel/base/config.js';
import { pause } from './kernel/base/eventLoop.js';

// graphql decides while it is loaded how much it checks, and static imports run before any statement of this file: so
// what loads graphql is imported below.
process.env.NODE_ENV ??= 'production';
// From Node 22 on: what was compiled at one start is read at the next.
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

/** How long a stopping server goes on answering while readiness already says no, so that nobody sends to a closed port. */
const drainMs = 1000;
/** A second SIGINT within this time is the first one once more. */
const echoMs = 500;
/** When connections that still have not ended are cut. */
const patienceMs = 8_000;
/** When the process ends even though something refuses to close. */
const deadlineMs = 14_000;

async function start(): Promise<void> {
  const config = readConfig();
  // Before there are other threads, which take after this one. A priority that is lower already stays: only root may raise it.
  if (config.role === 'worker') setPriority(Math.max(getPriority(), config.workerNice));
  const { createServer } = await import('./app.js');
  const { demoAccount } = await import('./demo/demo.js');
  const { withoutHalfDemo } = await import('./demo/unfinished.js');
  const { banner } = await import('./banner.js');
  const begin = () => createServer(config);
  const server = await withoutHalfDemo(await begin(), begin);
  endOnFault(server);
  stopOnSignal(server);
  const demo = await demoAccount(server.app);
  server.app.demo = demo;
  const address = await server.http.listen({ port: config.port, host: config.host });
  server.app.log.info({ address, database: server.app.database.kind, role: config.role }, 'listening');
  process.stdout.write(banner(server.app, address, demo));
  await server.warm().catch((error: unknown) => server.app.log.warn({ err: error }, 'could not warm up'));
}

/** After an error that nobody caught the state of the process is unknown: what is committed is safe, the rest must not go on. */
function endOnFault({ app }: Server): void {
  process.on('uncaughtException', (error, origin) => {
    app.log.fatal({ err: error, origin }, 'uncaught error, the process ends');
    process.exit(1);
  });
}

/**
 * The first signal stops in good order, a second one at once. Ctrl-C in a terminal does not wait for a load balancer, and comes twice where
 * npm hands on what the terminal has sent to both.
 */
function stopOnSignal(server: Server): void {
  let stoppingSince: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (stoppingSince !== undefined) {
        if (signal === 'SIGINT' && now - stoppingSince < echoMs) return;
        process.exit(1);
      }
      stoppingSince = now;
      server.app.log.info({ signal }, 'stopping');
      void stop(server, signal === 'SIGTERM' ? drainMs : 0);
    });
  }
}

async function stop({ app, http, close }: Server, drain: number): Promise<void> {
  setTimeout(() => process.exit(1), deadlineMs).unref();
  setTimeout(() => http.server.closeAllConnections(), patienceMs).unref();
  app.ready = false;
  await pause(drain);
  try {
    await close();
    app.log.info('stopped');
    process.exit(0);
  } catch (error) {
    app.log.error({ err: error }, 'could not stop in good order');
    process.exit(1);
  }
}

start().catch((error: Error & { code?: string }) => {
  console.error(`The server cannot start. ${error.message || error.code || error}`);
  if (process.env.NODE_ENV !== 'production') console.error(error.stack);
  process.exit(1);
});
