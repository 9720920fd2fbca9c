-- Companies of an owner are counted without the rows, and read in the order of the list; those of a lifecycle stage are found by it.
-- Companies without one, as most are, stand in no index of it.
DROP INDEX companies_account_id_owner_id_idx;
CREATE INDEX companies_by_owner ON companies (account_id, owner_id, created_at, id) INCLUDE (deleted_at) WHERE account_id IS NOT NULL;
CREATE INDEX companies_by_lifecycle_stage ON companies (account_id, lower(lifecycle_stage COLLATE "und-x-icu"), created_at, id)
  WHERE lifecycle_stage IS NOT NULL AND deleted_at IS NULL;

-- Who an appointment is for is told by the index of its calendar.
DROP INDEX appointments_by_calendar;
CREATE INDEX appointments_by_calendar ON appointments (account_id, calendar_id, start_time, id) INCLUDE (status, assigned_to)
  WHERE deleted_at IS NULL;
