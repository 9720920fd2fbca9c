import { closeSync, linkSync, mkdirSync, openSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Beat } from './lock.beat.js';

const held = new Set<string>();

/** How often a holder touches its file, and how long one who cannot tell by the pid waits for that. */
const beatMs = 500;
const patienceMs = 3000;
const lookMs = 50;

/** What is written where the system does not tell. */
const untold = '-';

/** State and start time of a process where the system tells: a recycled pid or a zombie must not pass for the holder. */
function processStat(pid: number): { state: string; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/** Where a pid means this one process: the run of the machine's kernel, and in it the container. */
function world(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return untold;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function isAlive(pid: number, started: string): boolean {
  if (pid === process.pid || !isRunning(pid)) return false;
  const stat = processStat(pid);
  if (!stat) return true;
  return stat.state !== 'Z' && stat.state !== 'X' && (!started || stat.started === started);
}

interface Holder {
  /** The whole file, which tells one holder from another. */
  text: string;
  pid: number;
  isAlive: boolean;
}

function holderOf(file: string): Holder | undefined {
  const text = textOf(file);
  if (text === undefined) return undefined;
  const [pid = '', started = '', where] = text.trim().split(' ');
  const holder = { text, pid: Number(pid), isAlive: false };
  if (!/^[1-9]\d*$/.test(pid)) return holder;
  // A version that noted no place does not touch its file either.
  const isToldByPid = where === undefined || (where !== untold && where === world());
  // Without /proc there are no containers: who is not running is gone, and whoever else has the pid now is seen by its silence.
  const isGone = where === untold && process.platform !== 'linux' && !isRunning(holder.pid);
  holder.isAlive = isToldByPid ? isAlive(holder.pid, started) : !isGone && isTouched(file);
  return holder;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const touchedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

/** Whether the holder touches its file, whatever the clocks of the two say. It is waited for: nothing else has begun yet. */
function isTouched(file: string): boolean {
  const before = touchedAt(file);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < patienceMs; waited += lookMs) {
    Atomics.wait(sleeper, 0, 0, lookMs);
    const at = touchedAt(file);
    if (at === undefined) return false;
    if (at !== before) return true;
  }
  return false;
}

const inUse = (file: string, pid: number) =>
  new Error(
    `The embedded database in ${dirname(file)} is in use by another process (pid ${pid}). ` +
      'It serves one process at a time: stop that process, use another DATA_DIR, or set DATABASE_URL to run several on PostgreSQL.',
  );

function create(file: string, text: string): boolean {
  try {
    const handle = openSync(file, 'wx', 0o600);
    writeSync(handle, text);
    closeSync(handle);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a dead process's file aside: of two who try, one gets the stale file, and the other must not remove the winner's. */
function clearStale(file: string, { text }: Holder): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (textOf(aside) !== text) linkSync(aside, file);
  rmSync(aside, { force: true });
}

/** Touches the file from now on. The thread keeps no process alive, and one that fails takes none along. */
function beating(file: string): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
  const workerData: Beat = { file, everyMs: beatMs };
  const thread = new Worker(new URL('./lock.beat.js', import.meta.url), { workerData, resourceLimits, env: {}, execArgv: [] });
  thread.unref();
  return thread.on('error', () => {});
}

/** Takes the lock file or throws an error that says who holds it. Returns the release. */
export function takeLock(path: string): () => void {
  const file = resolve(path);
  if (held.has(file)) throw inUse(file, process.pid);
  mkdirSync(dirname(file), { recursive: true });
  const text = `${process.pid} ${processStat(process.pid)?.started ?? untold} ${world()}\n`;
  for (let tries = 0; !create(file, text); tries++) {
    const holder = holderOf(file);
    if (holder?.isAlive || tries > 5) throw inUse(file, holder?.pid ?? 0);
    if (holder) clearStale(file, holder);
  }
  held.add(file);
  const thread = beating(file);
  return () => {
    if (!held.delete(file)) return;
    void thread.terminate();
    if (textOf(file) === text) rmSync(file, { force: true });
  };
}
