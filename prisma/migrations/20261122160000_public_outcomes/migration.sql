-- CreateTable
CREATE TABLE "public_outcomes" (
    "client" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "outcome" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "public_outcomes_pkey" PRIMARY KEY ("client","operation","key")
);

-- CreateIndex
CREATE INDEX "public_outcomes_expires_at_idx" ON "public_outcomes"("expires_at");
