-- A call that is over is found by its id alone: its number may be another workspace's by then.
CREATE INDEX "live_calls_provider_id_idx" ON "live_calls"("provider_id");

-- AlterTable
ALTER TABLE "call_flows" ADD COLUMN     "published_since" TIMESTAMPTZ(3);
