-- AlterTable
ALTER TABLE "enrollments" ADD COLUMN     "causes" JSONB;

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "causes" JSONB;

-- AlterTable
ALTER TABLE "outbox_events" ADD COLUMN     "causes" JSONB;

-- CreateTable
CREATE TABLE "feed_readers" (
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "pos" BIGINT NOT NULL,

    CONSTRAINT "feed_readers_pkey" PRIMARY KEY ("account_id","name")
);
