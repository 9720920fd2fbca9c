-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "action_key" TEXT;

-- AlterTable
ALTER TABLE "webhook_deliveries" ADD COLUMN     "action_key" TEXT;

-- AlterTable
ALTER TABLE "workflow_runs" ADD COLUMN     "causes" JSONB,
ADD COLUMN     "changes" JSONB,
ADD COLUMN     "conditions" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "due_at" TIMESTAMPTZ(3),
ADD COLUMN     "entity_type" TEXT,
ADD COLUMN     "event_at" TIMESTAMPTZ(3) NOT NULL,
ADD COLUMN     "tries" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "workflows" DROP COLUMN "last_run_at",
DROP COLUMN "run_count",
ADD COLUMN     "activated_after" TEXT NOT NULL DEFAULT '0',
ADD COLUMN     "status" TEXT NOT NULL DEFAULT 'inactive',
ALTER COLUMN "trigger" DROP NOT NULL,
ALTER COLUMN "trigger_event" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "workflow_runs_account_id_started_at_id_idx" ON "workflow_runs"("account_id", "started_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "workflows_id_key" ON "workflows"("id");

-- Runs of which something is to be done, over all accounts; what one action of a run sends is kept once.
DROP INDEX workflow_runs_running;
CREATE INDEX workflow_runs_due ON workflow_runs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX workflow_runs_running ON workflow_runs (account_id, workflow_id) WHERE status = 'running';
CREATE UNIQUE INDEX messages_account_id_action_key_key ON messages (account_id, action_key) WHERE action_key IS NOT NULL;
CREATE UNIQUE INDEX webhook_deliveries_account_id_action_key_key ON webhook_deliveries (account_id, action_key) WHERE action_key IS NOT NULL;

-- How many runs a workflow had, kept like the other totals, as the kind 'workflow:<id>'.
CREATE FUNCTION count_workflow_runs() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO counts AS c (account_id, kind, slot, n)
  SELECT account_id, 'workflow:' || workflow_id AS kind, pg_backend_pid() % 16, count(*) FROM new_rows
  GROUP BY account_id, kind ORDER BY account_id, kind
  ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
  RETURN NULL;
END $body$;
CREATE TRIGGER count_workflow_runs AFTER INSERT ON workflow_runs REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_workflow_runs();
