-- AlterTable
ALTER TABLE "imports" ADD COLUMN     "begun_by" JSONB;
