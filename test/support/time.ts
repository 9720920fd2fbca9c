/** The least of several measurements: what others do on the machine only ever adds to one. */
export async function least(times: number, measure: () => Promise<number>): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let n = 0; n < times; n++) lowest = Math.min(lowest, await measure());
  return lowest;
}

/** How long some work takes, in milliseconds. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** The processor time of this process while some work runs, in milliseconds: that of the server and its collector in it as well. */
export async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
