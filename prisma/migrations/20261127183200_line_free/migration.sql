-- AlterTable
ALTER TABLE "live_calls" ADD COLUMN     "line_free_at" TIMESTAMPTZ(3);
