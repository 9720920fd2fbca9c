-- AlterTable
ALTER TABLE "phone_numbers" ADD COLUMN     "texts_come" BOOLEAN;
