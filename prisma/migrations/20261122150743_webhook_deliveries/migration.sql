-- What came of the attempts of a delivery is kept in its row.
DROP INDEX webhook_deliveries_due;
-- DropForeignKey
ALTER TABLE "webhook_attempts" DROP CONSTRAINT "webhook_attempts_account_id_delivery_id_fkey";

-- AlterTable
ALTER TABLE "webhook_deliveries" DROP COLUMN "next_attempt_at",
DROP COLUMN "response_body",
ADD COLUMN     "attempt_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "attempts" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "due_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_attempt_at" TIMESTAMPTZ(3),
ADD COLUMN     "run_id" UUID,
ADD COLUMN     "secret" TEXT,
ADD COLUMN     "source_id" UUID,
ADD COLUMN     "source_kind" TEXT NOT NULL DEFAULT 'webhook',
ADD COLUMN     "url" TEXT,
ALTER COLUMN "webhook_id" DROP NOT NULL;

-- AlterTable
ALTER TABLE "webhooks" ADD COLUMN     "disabled_at" TIMESTAMPTZ(3),
ADD COLUMN     "failing_since" TIMESTAMPTZ(3),
ADD COLUMN     "previous_secret" TEXT,
ADD COLUMN     "previous_until" TIMESTAMPTZ(3);

-- DropTable
DROP TABLE "webhook_attempts";

-- CreateIndex
CREATE INDEX "webhook_deliveries_account_id_created_at_id_idx" ON "webhook_deliveries"("account_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "webhooks_id_key" ON "webhooks"("id");

UPDATE webhook_deliveries SET source_id = webhook_id;
ALTER TABLE webhook_deliveries ALTER COLUMN source_id SET NOT NULL,
  ADD CONSTRAINT webhook_deliveries_source_check CHECK (source_kind IN ('webhook', 'workflow', 'automation')),
  ADD CONSTRAINT webhook_deliveries_address_check CHECK (webhook_id IS NOT NULL OR url IS NOT NULL);

-- What is due of each source, and what is under way.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (account_id, source_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (account_id, source_id) WHERE leased_until IS NOT NULL;
CREATE INDEX webhooks_listening ON webhooks (account_id) WHERE is_active AND archived_at IS NULL;

-- Takes deliveries that have come due: of each source at most p_each are under way at a time, of each account p_account, in all
-- processes; sources and accounts take turns. One process at a time looks, each statement with what those before have taken.
CREATE FUNCTION take_deliveries(p_now timestamptz, p_most int, p_lease int, p_each int, p_account int)
RETURNS TABLE ("accountId" uuid, id uuid, attempt int) LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('take_deliveries', 0));
  RETURN QUERY
  WITH RECURSIVE source AS (
    (SELECT d.account_id, d.source_id FROM webhook_deliveries d WHERE d.due_at IS NOT NULL ORDER BY d.account_id, d.source_id LIMIT 1)
    UNION ALL
    SELECT n.account_id, n.source_id FROM source s CROSS JOIN LATERAL (
      SELECT d.account_id, d.source_id FROM webhook_deliveries d
      WHERE d.due_at IS NOT NULL AND (d.account_id, d.source_id) > (s.account_id, s.source_id)
      ORDER BY d.account_id, d.source_id LIMIT 1) n
  ), under_way AS MATERIALIZED (
    SELECT d.account_id, d.source_id, count(*)::int AS n FROM webhook_deliveries d
    WHERE d.leased_until IS NOT NULL AND d.leased_until > clock_timestamp() GROUP BY 1, 2
  ), by_account AS (
    SELECT u.account_id, sum(u.n)::int AS n FROM under_way u GROUP BY 1
  ), soon AS (
    SELECT f.account_id, f.id, f.due_at, row_number() OVER (PARTITION BY f.account_id ORDER BY f.nth, f.due_at, f.id) AS nth
    FROM source s LEFT JOIN under_way u USING (account_id, source_id) CROSS JOIN LATERAL (
      SELECT d.account_id, d.id, d.due_at, row_number() OVER (ORDER BY d.due_at, d.id) AS nth FROM webhook_deliveries d
      WHERE d.account_id = s.account_id AND d.source_id = s.source_id AND d.due_at <= p_now
        AND (d.leased_until IS NULL OR d.leased_until <= clock_timestamp())
      ORDER BY d.due_at, d.id LIMIT greatest(p_each - coalesce(u.n, 0), 0)) f
  ), chosen AS (
    SELECT s.account_id, s.id FROM soon s LEFT JOIN by_account b USING (account_id)
    WHERE s.nth + coalesce(b.n, 0) <= p_account ORDER BY s.nth, s.due_at LIMIT p_most
  ), held AS (
    SELECT d.account_id, d.id FROM webhook_deliveries d JOIN chosen USING (account_id, id)
    WHERE d.due_at <= p_now FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE webhook_deliveries d SET attempt = d.attempt + 1, leased_until = clock_timestamp() + make_interval(secs => p_lease) FROM held
  WHERE d.account_id = held.account_id AND d.id = held.id
  RETURNING d.account_id, d.id, d.attempt;
END $body$;
