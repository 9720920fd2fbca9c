-- A column of the board holds live deals only.
DROP INDEX "deals_account_id_stage_id_position_id_idx";
CREATE INDEX deals_by_stage ON deals (account_id, stage_id, position, id) WHERE deleted_at IS NULL;

-- The newest deals of a contact, a company and a user come from the index in their order.
DROP INDEX "deals_account_id_contact_id_idx";
DROP INDEX "deals_account_id_company_id_idx";
DROP INDEX "deals_account_id_assigned_to_idx";
CREATE INDEX "deals_account_id_contact_id_created_at_id_idx" ON "deals"("account_id", "contact_id", "created_at", "id");
CREATE INDEX "deals_account_id_company_id_created_at_id_idx" ON "deals"("account_id", "company_id", "created_at", "id");
CREATE INDEX "deals_account_id_assigned_to_created_at_id_idx" ON "deals"("account_id", "assigned_to", "created_at", "id");
