-- Which status and priority a task has is told by the index of the list's order.
DROP INDEX tasks_account_id_created_at_id_idx;
CREATE INDEX tasks_by_created_at ON tasks (account_id, created_at, id) INCLUDE (status, priority) WHERE account_id IS NOT NULL;
