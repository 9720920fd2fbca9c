import { closeSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const held = new Set<string>();

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

function isAlive(pid: number, started: string): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const stat = processStat(pid);
  if (!stat) return true;
  return stat.state !== 'Z' && stat.state !== 'X' && (!started || stat.started === started);
}

function holderOf(file: string): { pid: number; alive: boolean } | undefined {
  try {
    const [pid = '', started = ''] = readFileSync(file, 'utf8').trim().split(' ');
    return { pid: Number(pid), alive: /^[1-9]\d*$/.test(pid) && isAlive(Number(pid), started) };
  } catch {
    return undefined;
  }
}

const inUse = (file: string, pid: number) =>
  new Error(
    `The embedded database in ${dirname(file)} is in use by another process (pid ${pid}). ` +
      'It serves one process at a time: stop that process, use another DATA_DIR, or set DATABASE_URL to run several on PostgreSQL.',
  );

function create(file: string): boolean {
  try {
    const handle = openSync(file, 'wx', 0o600);
    writeSync(handle, `${process.pid} ${processStat(process.pid)?.started ?? ''}\n`);
    closeSync(handle);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a dead process's file aside: of two who try, one gets the stale file, and the other must not remove the winner's. */
function clearStale(file: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const holder = holderOf(aside);
  if (holder?.alive) linkSync(aside, file);
  rmSync(aside, { force: true });
}

/** Takes the lock file or throws an error that says who holds it. Returns the release. */
export function takeLock(path: string): () => void {
  const file = resolve(path);
  if (held.has(file)) throw inUse(file, process.pid);
  mkdirSync(dirname(file), { recursive: true });
  for (let tries = 0; !create(file); tries++) {
    const holder = holderOf(file);
    if (holder?.alive || tries > 5) throw inUse(file, holder?.pid ?? 0);
    if (holder) clearStale(file);
  }
  held.add(file);
  return () => {
    if (held.delete(file)) rmSync(file, { force: true });
  };
}
