-- DropIndex
DROP INDEX "calls_account_id_call_flow_id_created_at_idx";

-- DropIndex
DROP INDEX "calls_account_id_contact_id_created_at_id_idx";

-- DropIndex
DROP INDEX "calls_account_id_user_id_created_at_id_idx";

-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "recording_url" TEXT,
ALTER COLUMN "started_at" SET NOT NULL;

-- CreateIndex
CREATE INDEX "calls_account_id_contact_id_started_at_id_idx" ON "calls"("account_id", "contact_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "calls_account_id_user_id_started_at_id_idx" ON "calls"("account_id", "user_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "calls_account_id_call_flow_id_started_at_id_idx" ON "calls"("account_id", "call_flow_id", "started_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "calls_id_key" ON "calls"("id");

-- CreateIndex
CREATE UNIQUE INDEX "calls_account_id_provider_id_key" ON "calls"("account_id", "provider_id");
