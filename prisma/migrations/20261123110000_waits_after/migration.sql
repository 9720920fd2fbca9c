-- AlterTable
ALTER TABLE "automation_runs" ADD COLUMN     "waiting_after" TEXT;
