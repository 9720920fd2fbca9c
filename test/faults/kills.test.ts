import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { isPostgres } from '../support/index.js';
import { expectRead, expectTold, expectWhole } from '../support/survival.js';
import { Journal, Writer } from '../support/writers.js';

/*
 * KILLS and KILL_ACKS: how often the server is killed, and how many writes are acknowledged in all (5 of 1000; on the
 * embedded database, which takes longer to come back, 3 of 300).
 */
const { KILLS = isPostgres ? '5' : '3', KILL_ACKS = isPostgres ? '1000' : '300' } = process.env;
const [kills, acks] = [Number(KILLS), Number(KILL_ACKS)];
const writers = 8;

jest.setTimeout(60_000 + kills * 15_000 + acks * 60);

let server: Alone;
let up: Promise<unknown> = Promise.resolve();
const journal = new Journal();

/** Kills the server in the middle of what it does, starts it again, and reads back what it acknowledged before. */
async function killOnce(since: number): Promise<number> {
  let known = 0;
  up = (async () => {
    await server.process.kill();
    known = journal.entries.length;
    await server.start();
    await expectRead(server.caller, journal, journal.entries.slice(since));
  })();
  await up;
  return known;
}

/** Writes, and kills at random moments. */
async function live(): Promise<void> {
  const options = { client: server.caller, journal, up: () => up, pipeline: server.pipeline };
  const work = Array.from({ length: writers }, (_, i) => new Writer(`w${i}`, i % 2 === 0, options).until(acks));
  const done = Promise.all(work);
  let read = 0;
  for (let kill = 1; kill <= kills; kill++) {
    await Promise.race([done, journal.reached(Math.floor((kill * acks) / (kills + 1)))]);
    await setTimeout(Math.random() * 50);
    read = await killOnce(read);
  }
  await done;
}

describe(`a server that is killed ${kills} times while ${writers} writers get ${acks} writes acknowledged`, () => {
  beforeAll(async () => {
    server = await Alone.begin();
  });
  afterAll(async () => {
    // Writers that still go on because another one failed end here.
    up = Promise.reject(new Error('The test is over'));
    up.catch(() => {});
    await server.end();
  });

  it('has every acknowledged write after each start', live);

  it('has all of them in the end, as they were written last', async () => {
    expect(journal.entries.length).toBeGreaterThanOrEqual(acks);
    await expectRead(server.caller, journal, journal.entries);
  });

  it('tells each of them once in the feed, in a row without gaps, and nothing twice', () => expectTold(server.caller, journal));

  it('has done nothing by halves: record, log entry and event are all there or none of them', () =>
    server.onceStopped((database) => expectWhole(database, journal)));
});
