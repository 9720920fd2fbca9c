import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A figure with its labels. */
export interface Figure {
  labels: Record<string, string>;
  value: number;
}

let figuresOfProcess: Registry | undefined;

/** Memory, garbage collection, the event loop: kept once, since who counts them is held by the process for ever. */
function processFigures(): Registry {
  if (figuresOfProcess) return figuresOfProcess;
  figuresOfProcess = new Registry();
  collectDefaultMetrics({ register: figuresOfProcess });
  return figuresOfProcess;
}

/** What `/metrics` tells. One set a server, so that tests can run several. */
export class Metrics {
  readonly registry = new Registry();
  readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests by route',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [this.registry],
  });
  readonly queries = new Counter({
    name: 'db_queries_total',
    help: 'SQL statements sent, transaction statements included',
    registers: [this.registry],
  });
  readonly refusals = new Counter({
    name: 'rate_limit_refusals_total',
    help: 'Requests refused with 429 by route',
    labelNames: ['route'],
    registers: [this.registry],
  });

  constructor() {
    processFigures();
  }

  /** Everything in the text format of Prometheus. */
  async text(): Promise<string> {
    return `${await this.registry.metrics()}${await processFigures().metrics()}`;
  }

  /** A figure that is read when it is asked for. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Figures that come from the database: asked for at most once a second, and left out while it is away. */
  figures(name: string, help: string, labelNames: string[], read: () => Promise<Figure[]>): void {
    let readAt = Number.NEGATIVE_INFINITY;
    let reading: Promise<Figure[]>;
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      async collect() {
        if (performance.now() - readAt >= 1000) {
          readAt = performance.now();
          reading = read().catch(() => []);
        }
        // Whoever asks meanwhile waits for the same figures: they are replaced in one go, and never missing between.
        const figures = await reading;
        this.reset();
        for (const { labels, value } of figures) this.set(labels, value);
      },
    });
  }
}
