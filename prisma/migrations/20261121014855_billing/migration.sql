-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "billing_asked_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "billing_events" (
    "account_id" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_events_pkey" PRIMARY KEY ("account_id","id")
);
