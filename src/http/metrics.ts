import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** What `/metrics` tells. One set a server, so that tests can run several. */
export class Metrics {
  readonly registry = new Registry();
  readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests by row',
    labelNames: ['row', 'method', 'status'],
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
    help: 'Requests refused with 429 by row',
    labelNames: ['row'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
