-- CreateIndex
CREATE UNIQUE INDEX "forms_id_key" ON "forms"("id");

-- CreateIndex
CREATE UNIQUE INDEX "messages_id_key" ON "messages"("id");

-- CreateIndex
CREATE UNIQUE INDEX "templates_id_key" ON "templates"("id");

-- CreateIndex
CREATE UNIQUE INDEX "activities_id_key" ON "activities"("id");

-- CreateIndex
CREATE UNIQUE INDEX "companies_id_key" ON "companies"("id");

-- CreateIndex
CREATE UNIQUE INDEX "contacts_id_key" ON "contacts"("id");

-- CreateIndex
CREATE UNIQUE INDEX "custom_fields_id_key" ON "custom_fields"("id");

-- CreateIndex
CREATE UNIQUE INDEX "deals_id_key" ON "deals"("id");

-- CreateIndex
CREATE UNIQUE INDEX "imports_id_key" ON "imports"("id");

-- CreateIndex
CREATE UNIQUE INDEX "invoices_id_key" ON "invoices"("id");

-- CreateIndex
CREATE UNIQUE INDEX "notes_id_key" ON "notes"("id");

-- CreateIndex
CREATE UNIQUE INDEX "payments_id_key" ON "payments"("id");

-- CreateIndex
CREATE UNIQUE INDEX "pipelines_id_key" ON "pipelines"("id");

-- CreateIndex
CREATE UNIQUE INDEX "products_id_key" ON "products"("id");

-- CreateIndex
CREATE UNIQUE INDEX "smart_lists_id_key" ON "smart_lists"("id");

-- CreateIndex
CREATE UNIQUE INDEX "stages_id_key" ON "stages"("id");

-- CreateIndex
CREATE UNIQUE INDEX "tags_id_key" ON "tags"("id");

-- CreateIndex
CREATE UNIQUE INDEX "tasks_id_key" ON "tasks"("id");

-- Called by a write of records whose ids clients chose: whether no record of the account has them, whatever it is. What it answers
-- when one has is what a unique index would.
CREATE FUNCTION id_is_free(free boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF NOT free THEN
    RAISE EXCEPTION 'a record has this id' USING ERRCODE = 'unique_violation';
  END IF;
  RETURN '';
END
$$;
