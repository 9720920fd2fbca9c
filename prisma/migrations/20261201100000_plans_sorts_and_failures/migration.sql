-- Each sort key of enrollments and of workflow runs has an index in its order; two where it may be empty, since that comes last both ways.
-- CreateIndex
CREATE INDEX "enrollments_account_id_created_at_id_idx" ON "enrollments"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "enrollments_account_id_updated_at_id_idx" ON "enrollments"("account_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "workflow_runs_account_id_created_at_id_idx" ON "workflow_runs"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "workflow_runs_account_id_updated_at_id_idx" ON "workflow_runs"("account_id", "updated_at", "id");

CREATE INDEX enrollments_by_next_email_at ON enrollments (account_id, next_email_at, id) WHERE account_id IS NOT NULL;
CREATE INDEX enrollments_by_next_email_at_desc ON enrollments (account_id, next_email_at DESC NULLS LAST, id DESC) WHERE account_id IS NOT NULL;

-- What failed is rare, and what one looks for: without these every run and every delivery was read for it. What succeeds writes to none.
CREATE INDEX workflow_runs_failed ON workflow_runs (account_id, started_at, id) WHERE status = 'failed';
CREATE INDEX workflow_runs_failed_of_workflow ON workflow_runs (account_id, workflow_id, started_at, id) WHERE status = 'failed';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (account_id, created_at, id) WHERE status = 'failed';
CREATE INDEX webhook_deliveries_failed_of_webhook ON webhook_deliveries (account_id, webhook_id, created_at, id) WHERE status = 'failed';
