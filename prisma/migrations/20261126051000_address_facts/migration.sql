-- CreateTable
CREATE TABLE "address_facts" (
    "account_id" UUID NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "holds" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "address_facts_pkey" PRIMARY KEY ("account_id","kind","address","seq")
);

-- Who writes START from a number whose contact was merged: no insert writes to it.
CREATE INDEX contacts_merged_by_phone ON contacts (account_id, phone) WHERE merged_into_id IS NOT NULL;
