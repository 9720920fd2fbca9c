CREATE UNIQUE INDEX "sequences_id_key" ON "sequences"("id");
