-- CreateTable
CREATE TABLE "due_outcomes" (
    "account_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "outcome" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "due_outcomes_pkey" PRIMARY KEY ("account_id","kind","id")
);
