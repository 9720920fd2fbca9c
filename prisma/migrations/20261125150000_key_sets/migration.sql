-- A list that what other records hold narrows is counted there, without those that it does not show. They are found here; no insert writes
-- to these indexes.
CREATE INDEX contacts_deleted ON contacts (account_id, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX companies_deleted ON companies (account_id, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX deals_deleted ON deals (account_id, id) WHERE deleted_at IS NOT NULL;

-- Who has won lately: only deals that are won stand here.
CREATE INDEX deals_won ON deals (account_id, closed_at) INCLUDE (contact_id) WHERE status = 'won' AND deleted_at IS NULL;

-- Whose deals have a status, and whose tasks are open, is told by these indexes alone.
DROP INDEX deals_by_status;
CREATE INDEX deals_by_status ON deals (account_id, status, updated_at, id) INCLUDE (contact_id) WHERE deleted_at IS NULL;
DROP INDEX tasks_open;
CREATE INDEX tasks_open ON tasks (account_id, due_date, id) INCLUDE (contact_id) WHERE status <> 'done';
