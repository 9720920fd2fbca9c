import type pg from 'pg';
import { backendTimes, spent } from './backends.js';
import { answersOf, statementsOf, type Traces, tracesOf } from './check.js';
import type { Place, SideName } from './database.js';
import type { Call, Generator } from './load.js';
import { options } from './options.js';
import type { Running } from './process.js';
import type { Round } from './report.js';
import type { Sides } from './sides.js';

/** All that a measurement needs. */
export interface Bench {
  place: Place;
  sides: Sides;
  send: Generator;
  /** Connected to PostgreSQL, to look at its processes. */
  client: pg.Client;
}

/** Our server or a yardstick while a workload is measured. */
export class Contestant {
  readonly rounds: Round[] = [];
  readonly #server: Running;
  readonly #url: string;
  /** What is sent in rounds, as samples, and to count statements. */
  readonly #calls: { load: Call[]; samples: Call[]; counted: Call[] };
  #sent = 0;

  constructor(
    private readonly bench: Bench,
    side: SideName,
    calls: Call[],
    isOnce = false,
  ) {
    this.#server = bench.sides.running.get(side)!;
    this.#url = bench.place.urls[side];
    this.#calls = isOnce
      ? { load: calls.slice(100), samples: calls.slice(0, 50), counted: calls.slice(50, 100) }
      : { load: calls, samples: calls, counted: calls };
  }

  /** One round; begins at the call, or behind those that were sent before. */
  async round(seconds: number, from = this.#sent): Promise<Round> {
    const { send, place, client } = this.bench;
    const { connections } = options;
    const backends = await backendTimes(client, this.#url);
    const before = this.#server.cpu();
    const load = await send({ url: this.#server.url, key: place.key, calls: this.#calls.load, from, seconds, connections });
    const cpu = this.#server.cpu() - before;
    const database = spent(backends, await backendTimes(client, this.#url));
    this.#sent += load.requests + connections;
    return { ...load, cpu: cpu / load.requests, database: database / load.requests };
  }

  /** Lets it answer until its code is compiled and its caches are full: what is measured is a server that has been running. */
  async warm(): Promise<void> {
    for (let spent = 0; spent < options.warm && this.#sent < warmRequests; spent += warmStep) await this.round(warmStep);
  }

  /** A round that counts. */
  async measure(seconds: number, from?: number): Promise<void> {
    this.rounds.push(await this.round(seconds, from));
  }

  /** What it answers to a sample of its calls. */
  answers() {
    return answersOf(this.#server, this.#calls.samples, this.bench.place.key);
  }

  /** What it has written so far. */
  traces(): Promise<Traces> {
    return tracesOf(this.#url);
  }

  /** SQL statements of one request. */
  statements() {
    return statementsOf(this.#server, this.#calls.counted, this.bench.place.key);
  }
}

const warmRequests = 15_000;
const warmStep = 2;
