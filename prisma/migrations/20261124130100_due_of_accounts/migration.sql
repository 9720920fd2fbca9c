-- What is due next of an account: where one has much that is due, the others are found beside it.
CREATE INDEX messages_due_of_account ON messages (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX enrollments_due_of_account ON enrollments (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX vendor_connections_due_of_account ON vendor_connections (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX automations_due_of_account ON automations (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX automation_runs_due_of_account ON automation_runs (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX workflow_runs_due_of_account ON workflow_runs (account_id, due_at) WHERE due_at IS NOT NULL;
