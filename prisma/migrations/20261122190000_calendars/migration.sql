ALTER TABLE "calendars"
  ADD COLUMN "buffer_minutes" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "feed_version" INTEGER NOT NULL DEFAULT 1,
  ADD COLUMN "slot_minutes" INTEGER NOT NULL DEFAULT 30,
  ADD COLUMN "working_hours" JSONB NOT NULL DEFAULT '[]';
CREATE UNIQUE INDEX "calendars_id_key" ON "calendars"("id");

-- An appointment keeps others away until its buffer has passed.
ALTER TABLE "appointments" ADD COLUMN "busy_until" TIMESTAMPTZ(3);
UPDATE appointments SET busy_until = end_time;
ALTER TABLE "appointments" ALTER COLUMN "busy_until" SET NOT NULL;
ALTER TABLE appointments ADD CONSTRAINT appointments_busy_until_check CHECK (busy_until >= end_time);
CREATE UNIQUE INDEX "appointments_id_key" ON "appointments"("id");

ALTER TABLE appointments DROP CONSTRAINT appointments_calendar_overlap;
ALTER TABLE appointments ADD CONSTRAINT appointments_calendar_overlap EXCLUDE USING gist
  (account_id WITH =, calendar_id WITH =, tstzrange(start_time, busy_until) WITH &&) WHERE (status = 'scheduled' AND deleted_at IS NULL);
ALTER TABLE appointments DROP CONSTRAINT appointments_assignee_overlap;
ALTER TABLE appointments ADD CONSTRAINT appointments_assignee_overlap EXCLUDE USING gist
  (account_id WITH =, assigned_to WITH =, tstzrange(start_time, busy_until) WITH &&)
  WHERE (status = 'scheduled' AND deleted_at IS NULL AND assigned_to IS NOT NULL);

SELECT keep_count('appointments', 'deleted_at IS NULL');
INSERT INTO counts (account_id, kind, slot, n)
SELECT account_id, 'appointments', 0, count(*) FROM appointments WHERE deleted_at IS NULL GROUP BY 1;

CREATE INDEX appointments_by_start_time ON appointments (account_id, start_time, id) WHERE deleted_at IS NULL;
CREATE INDEX appointments_by_created_at ON appointments (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX appointments_by_updated_at ON appointments (account_id, updated_at, id) WHERE deleted_at IS NULL;
