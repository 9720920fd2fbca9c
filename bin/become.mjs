import { spawn } from 'node:child_process';

/**
 * Runs Node with these arguments in the place of this process: as it, where Node can, so that nothing stays between a server and whoever
 * watches it; else as a child, which gets the signals and gives the exit code.
 */
export function become(args, env) {
  if (process.execve && process.platform !== 'win32') process.execve(process.execPath, [process.execPath, ...args], env);
  const child = spawn(process.execPath, args, { stdio: 'inherit', env });
  // Ctrl-C in a terminal reaches both, and a second signal would end the server at once; whoever else signals means the server.
  const handOn = (signal) => (signal === 'SIGTERM' || !process.stdin.isTTY) && child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, handOn);
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 0);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
