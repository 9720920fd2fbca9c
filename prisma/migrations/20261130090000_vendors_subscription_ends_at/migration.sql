-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "subscription_ends_at" TIMESTAMPTZ(3);
