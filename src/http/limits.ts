import { clientKey } from '../kernel/access/clientKey.js';
import { type Bucket, type Limiter, limited, type Spent, spendsGeneral } from '../kernel/access/rateLimits.js';
import type { Context } from '../kernel/context/context.js';

/** The limits that one request meets. The headers show the bucket with the fewest remaining, or the one that refused. */
export class RateGate {
  #shown?: Spent;

  constructor(private readonly limiter: Limiter) {}

  /** Spends the caller's own bucket, then the named ones of the route's operation. Throws 429. */
  async enter(ctx: Context, route: { buckets?: readonly Bucket[]; graphql?: boolean; operation?: string }): Promise<void> {
    const { principal } = ctx;
    if (principal?.kind === 'key') await this.#spend('key', principal.id, principal.rateLimit);
    else if (route.graphql && principal) await this.#spend('graphql', principal.userId ?? principal.id);
    else if (spendsGeneral(route.buckets)) await this.#spend('general', clientKey(ctx.request.ip));
    await this.field(ctx, route.operation ?? '', route.buckets ?? []);
  }

  /** Spends the named buckets of one operation: the same ones for a REST endpoint and for a root field of a GraphQL document. */
  async field(ctx: Context, name: string, buckets: readonly Bucket[]): Promise<void> {
    const ip = clientKey(ctx.request.ip);
    for (const bucket of buckets) await this.#spend(bucket, bucket === 'security' ? `${name}:${ip}` : ip);
  }

  async #spend(bucket: Bucket, key: string, limit?: number): Promise<void> {
    const spent = await this.limiter.spend(bucket, key, limit);
    this.show(spent);
    if (spent.refused) throw limited(spent);
  }

  /** Notes what a bucket has left, for the headers. */
  show(spent: Spent): void {
    if (spent.refused || !this.#shown || spent.remaining < this.#shown.remaining) this.#shown = spent;
  }

  /** The contract's rate headers; a request that reached no bucket shows the general one untouched. */
  headers(): Record<string, string> {
    const general = this.limiter.limitOf('general');
    const { limit, remaining, resetAt } = this.#shown ?? { limit: general, remaining: general, resetAt: new Date(Date.now() + 900_000) };
    return {
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(Math.ceil(resetAt.getTime() / 1000)),
    };
  }
}
