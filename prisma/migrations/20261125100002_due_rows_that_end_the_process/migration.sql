-- CreateTable
CREATE TABLE "due_lapses" (
    "account_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "n" INTEGER NOT NULL,

    CONSTRAINT "due_lapses_pkey" PRIMARY KEY ("account_id","kind","id")
);
