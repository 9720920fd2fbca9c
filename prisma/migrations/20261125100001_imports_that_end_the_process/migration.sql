-- AlterTable
ALTER TABLE "imports" ADD COLUMN     "error" TEXT,
ADD COLUMN     "fruitless" INTEGER NOT NULL DEFAULT 0;
