import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '2' },
    warm: { type: 'string', default: '10' },
    connections: { type: 'string', default: '16' },
    keep: { type: 'boolean', default: false },
    flags: { type: 'string' },
    setting: { type: 'string', multiple: true, default: [] },
    checkout: { type: 'string' },
    profile: { type: 'string' },
  },
});

/** A setting of the server as NAME=VALUE. */
function setting(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`--setting ${text} is not NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const profilable = ['server', 'ceiling', 'kept'] as const;

function profiled(name: string | undefined): (typeof profilable)[number] | undefined {
  const found = profilable.find((one) => one === name);
  if (name !== undefined && !found) throw new Error(`--profile ${name} is none of ${profilable.join(', ')}`);
  return found;
}

function count(name: 'rounds' | 'seconds' | 'warm' | 'connections', least: number): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < least) throw new Error(`--${name} must be a whole number of at least ${least}`);
  return value;
}

/** What `npm run bench -- …` was told; README.md beside this file explains it. */
export const options = {
  /** Workloads by their keys, or by how their keys begin; all when absent. */
  only: values.only?.split(',').filter(Boolean),
  /** Rounds of each server, and the seconds of each. */
  rounds: count('rounds', 1),
  seconds: count('seconds', 1),
  /** The most seconds that a server warms up for before a workload's first round. */
  warm: count('warm', 0),
  connections: count('connections', 1),
  /** Whether the filled database stays for the next run. */
  keep: values.keep,
  /** Node's flags of all servers, instead of those of npm start. */
  flags: values.flags?.split(' ').filter(Boolean),
  /** Settings of the other server: this server is compared with itself under them. */
  settings: Object.fromEntries(values.setting.map(setting)),
  /** A built checkout whose server is the other one. */
  checkout: values.checkout,
  /** The server that is profiled, and then nothing is compared. */
  profiled: profiled(values.profile),
};

/** Whether this server is compared with another of ours instead of with the yardsticks. */
export const isAgainstOther = values.setting.length > 0 || values.checkout !== undefined;
