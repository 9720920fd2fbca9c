-- DropIndex
DROP INDEX "automation_step_logs_account_id_run_id_started_at_id_idx";

-- AlterTable
ALTER TABLE "automation_runs" ADD COLUMN     "causes" JSONB,
ADD COLUMN     "due_at" TIMESTAMPTZ(3),
ADD COLUMN     "end_reason" TEXT,
ADD COLUMN     "goal_node_id" TEXT,
ADD COLUMN     "scheduled_for" TIMESTAMPTZ(3),
ADD COLUMN     "steps" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "tries" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "wait_event" TEXT,
ADD COLUMN     "wait_step_id" UUID,
ADD COLUMN     "waiting_since" TIMESTAMPTZ(3),
ALTER COLUMN "version" SET NOT NULL;

-- AlterTable
ALTER TABLE "automation_step_logs" ADD COLUMN     "nth" INTEGER NOT NULL;

-- AlterTable
ALTER TABLE "automations" DROP COLUMN "is_active",
DROP COLUMN "last_triggered_at",
DROP COLUMN "run_count",
ADD COLUMN     "active" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "attempt" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "due_at" TIMESTAMPTZ(3),
ADD COLUMN     "leased_until" TIMESTAMPTZ(3),
ADD COLUMN     "live_event" TEXT;

-- CreateIndex
CREATE INDEX "automation_runs_account_id_started_at_id_idx" ON "automation_runs"("account_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "automation_runs_account_id_automation_id_status_duration_ms_idx" ON "automation_runs"("account_id", "automation_id", "status", "duration_ms");

-- CreateIndex
CREATE UNIQUE INDEX "automation_runs_account_id_automation_id_scheduled_for_key" ON "automation_runs"("account_id", "automation_id", "scheduled_for");

-- CreateIndex
CREATE INDEX "automation_step_logs_account_id_started_at_id_idx" ON "automation_step_logs"("account_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "automation_step_logs_account_id_automation_id_node_id_statu_idx" ON "automation_step_logs"("account_id", "automation_id", "node_id", "status");

-- CreateIndex
CREATE UNIQUE INDEX "automation_step_logs_account_id_run_id_nth_key" ON "automation_step_logs"("account_id", "run_id", "nth");

-- CreateIndex
CREATE UNIQUE INDEX "automations_id_key" ON "automations"("id");

-- What is due, over all accounts; what an event starts, or ends the wait of.
-- That of triggers went with its column.
DROP INDEX automations_due, automation_runs_waiting;
CREATE INDEX automations_by_trigger ON automations (account_id, live_event) WHERE live_event IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX automations_due ON automations (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX automation_runs_due ON automation_runs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX automation_runs_by_event ON automation_runs (account_id, wait_event, contact_id) WHERE wait_event IS NOT NULL;

-- A contact is in one run of an automation at a time.
CREATE UNIQUE INDEX automation_runs_account_id_automation_id_contact_id_key ON automation_runs (account_id, automation_id, contact_id)
  WHERE status IN ('running', 'waiting');

-- How many runs an automation had, kept like the other totals, as the kind 'automation:<id>'.
CREATE FUNCTION count_automation_runs() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO counts AS c (account_id, kind, slot, n)
  SELECT account_id, 'automation:' || automation_id AS kind, pg_backend_pid() % 16, count(*) FROM new_rows
  GROUP BY account_id, kind ORDER BY account_id, kind
  ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
  RETURN NULL;
END $body$;
CREATE TRIGGER count_automation_runs AFTER INSERT ON automation_runs REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_automation_runs();
