-- AlterTable
ALTER TABLE "automations" ADD COLUMN     "live_after" TEXT NOT NULL DEFAULT '0';

-- AlterTable
ALTER TABLE "webhooks" ADD COLUMN     "active_after" TEXT NOT NULL DEFAULT '0';
