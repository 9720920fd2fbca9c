-- Whether a contact, a company or a colleague has live deals of a status is told by the indexes of their deals alone, in the order of
-- whose they are, so that these are counted without being sorted. So is how many deals there are of a status or in a stage, and which
-- of them a list shows first, and which open ones need something done.
DROP INDEX deals_account_id_contact_id_created_at_id_idx;
CREATE INDEX deals_by_contact ON deals (account_id, contact_id, created_at, id) INCLUDE (status, deleted_at) WHERE account_id IS NOT NULL;
DROP INDEX deals_account_id_company_id_created_at_id_idx;
CREATE INDEX deals_by_company ON deals (account_id, company_id, created_at, id) INCLUDE (status, deleted_at) WHERE account_id IS NOT NULL;
DROP INDEX deals_account_id_assigned_to_created_at_id_idx;
CREATE INDEX deals_by_assignee ON deals (account_id, assigned_to, created_at, id) INCLUDE (status, deleted_at) WHERE account_id IS NOT NULL;
DROP INDEX deals_by_status;
CREATE INDEX deals_by_status ON deals (account_id, status, updated_at, id) INCLUDE (contact_id, created_at, expected_close_date, appointment_at)
  WHERE deleted_at IS NULL;
DROP INDEX deals_by_stage;
CREATE INDEX deals_by_stage ON deals (account_id, stage_id, position, id) INCLUDE (created_at) WHERE deleted_at IS NULL;
