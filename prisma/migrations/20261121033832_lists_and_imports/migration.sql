-- A row of an import is a record with an id of its own, so that lists and changes find it like any other.
ALTER TABLE "import_rows" DROP CONSTRAINT "import_rows_pkey",
ADD COLUMN     "id" UUID NOT NULL DEFAULT gen_random_uuid(),
ADD CONSTRAINT "import_rows_pkey" PRIMARY KEY ("account_id", "id");
ALTER TABLE "import_rows" ALTER COLUMN "id" DROP DEFAULT;
CREATE UNIQUE INDEX "import_rows_account_id_import_id_row_key" ON "import_rows"("account_id", "import_id", "row");

ALTER TABLE "imports" ADD COLUMN     "name" TEXT;

ALTER TABLE "smart_lists" ADD COLUMN     "shared" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "sort" TEXT,
ADD COLUMN     "sort_order" TEXT;
ALTER TABLE "smart_lists" ADD CONSTRAINT "smart_lists_sort_order_check" CHECK ("sort_order" IN ('asc', 'desc'));
