-- The sweep looks for what has expired in all accounts: an index that begins with the account was no way to it, and nothing else used it.
-- CreateIndex
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

-- DropIndex
DROP INDEX "idempotency_keys_account_id_expires_at_idx";
