-- Runs that wait for an event are found by the record that started them, too.
CREATE INDEX automation_runs_by_record ON automation_runs (account_id, entity_id, wait_event) WHERE wait_event IS NOT NULL AND entity_id IS NOT NULL;
