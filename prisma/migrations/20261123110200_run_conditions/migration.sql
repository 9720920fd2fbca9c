-- AlterTable
ALTER TABLE "automation_runs" ADD COLUMN     "conditions" JSONB NOT NULL DEFAULT '[]';
