-- AlterTable
ALTER TABLE "call_flow_versions" ADD COLUMN     "forwards_to" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "user_ids" UUID[] DEFAULT ARRAY[]::UUID[];

-- AlterTable
ALTER TABLE "call_flows" DROP COLUMN "wiring",
ADD COLUMN     "prior_config" JSONB;

-- CreateTable
CREATE TABLE "call_flow_pointers" (
    "account_id" UUID NOT NULL,
    "call_flow_id" UUID NOT NULL,
    "node_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "call_flow_pointers_pkey" PRIMARY KEY ("account_id","call_flow_id","node_id")
);

-- CreateTable
CREATE TABLE "live_calls" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "provider_id" TEXT NOT NULL,
    "call_flow_id" UUID NOT NULL,
    "call_flow_version" INTEGER NOT NULL,
    "from_number" TEXT NOT NULL,
    "to_number" TEXT NOT NULL,
    "contact_id" UUID,
    "user_id" UUID,
    "status" TEXT NOT NULL DEFAULT 'ringing',
    "recording_url" TEXT,
    "choices" JSONB NOT NULL DEFAULT '{}',
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "answered_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "live_calls_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateIndex
CREATE INDEX "live_calls_account_id_started_at_id_idx" ON "live_calls"("account_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "live_calls_account_id_contact_id_idx" ON "live_calls"("account_id", "contact_id");

-- CreateIndex
CREATE INDEX "live_calls_account_id_user_id_idx" ON "live_calls"("account_id", "user_id");

-- CreateIndex
CREATE INDEX "live_calls_account_id_call_flow_id_call_flow_version_idx" ON "live_calls"("account_id", "call_flow_id", "call_flow_version");

-- CreateIndex
CREATE UNIQUE INDEX "live_calls_id_key" ON "live_calls"("id");

-- CreateIndex
CREATE UNIQUE INDEX "live_calls_account_id_provider_id_key" ON "live_calls"("account_id", "provider_id");

-- CreateIndex
CREATE UNIQUE INDEX "call_flows_id_key" ON "call_flows"("id");

-- AddForeignKey
ALTER TABLE "call_flow_pointers" ADD CONSTRAINT "call_flow_pointers_account_id_call_flow_id_fkey" FOREIGN KEY ("account_id", "call_flow_id") REFERENCES "call_flows"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "live_calls" ADD CONSTRAINT "live_calls_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "live_calls" ADD CONSTRAINT "live_calls_account_id_user_id_fkey" FOREIGN KEY ("account_id", "user_id") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "live_calls" ADD CONSTRAINT "live_calls_account_id_call_flow_id_fkey" FOREIGN KEY ("account_id", "call_flow_id") REFERENCES "call_flows"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "live_calls" ADD CONSTRAINT "live_calls_account_id_call_flow_id_call_flow_version_fkey" FOREIGN KEY ("account_id", "call_flow_id", "call_flow_version") REFERENCES "call_flow_versions"("account_id", "call_flow_id", "version") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE live_calls ADD CONSTRAINT live_calls_status_check CHECK (status IN ('ringing', 'in_progress', 'voicemail'));

SELECT keep_count('call_flows');
