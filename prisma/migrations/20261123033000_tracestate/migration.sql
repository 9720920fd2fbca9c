-- AlterTable
ALTER TABLE "outbox_events" ADD COLUMN     "tracestate" TEXT;
