-- AlterTable
ALTER TABLE "vendor_connections" DROP CONSTRAINT "vendor_connections_pkey",
ADD COLUMN     "attempt" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "cursor" TEXT NOT NULL,
ADD COLUMN     "due_at" TIMESTAMPTZ(3),
ADD COLUMN     "id" UUID NOT NULL,
ADD COLUMN     "leased_until" TIMESTAMPTZ(3),
ADD COLUMN     "sealed_key" TEXT NOT NULL,
ADD COLUMN     "vendor_account" TEXT NOT NULL,
ADD CONSTRAINT "vendor_connections_pkey" PRIMARY KEY ("account_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "vendor_connections_account_id_provider_key" ON "vendor_connections"("account_id", "provider");

-- Whom to ask for replies, over all accounts.
CREATE INDEX vendor_connections_due ON vendor_connections (due_at) WHERE due_at IS NOT NULL;
