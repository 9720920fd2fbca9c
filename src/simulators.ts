import { systemClock } from './kernel/base/clock.js';
import { readConfig } from './kernel/base/config.js';
import { simulateVendors } from './vendors/simulators.js';

/** `npm run vendors`: the simulators of the vendors as a process of their own, until it is stopped. */
async function start(): Promise<void> {
  const config = readConfig();
  const running = await simulateVendors(config, systemClock);
  const set = Object.entries(running.settings).map(([name, value]) => `export ${name}=${value}`);
  const told = Object.entries(running.control).map(([name, base]) => `# ${name.padEnd(6)} ${base}/simulator`);
  const lines = [
    `# Simulators of the vendors; messages are files in ${config.outboxDir}`,
    ...['# Set in the shell of the server:', ...set],
    ...['# Tell them what to do (docs/configuration.md):', ...told, '# Ready'],
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      running.close();
      process.exit(0);
    });
  }
}

start().catch((error: Error) => {
  console.error(`The simulators cannot start. ${error.message}`);
  process.exit(1);
});
