-- CreateIndex
CREATE INDEX "payments_account_id_paid_at_id_idx" ON "payments"("account_id", "paid_at", "id");
