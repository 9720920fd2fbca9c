-- AlterTable
ALTER TABLE "webhooks" ADD COLUMN     "events_after" JSONB NOT NULL DEFAULT '{}';
