-- A step's place is called as in messages: ORDER is a word of SQL.
ALTER TABLE "sequence_steps" RENAME COLUMN "order" TO "step_order";
ALTER INDEX "sequence_steps_account_id_sequence_id_version_order_key"
  RENAME TO "sequence_steps_account_id_sequence_id_version_step_order_key";

-- An enrollment says when its next step is due, over all accounts, since when it is held, and from when its days count.
ALTER TABLE "enrollments"
  ADD COLUMN "due_at" TIMESTAMPTZ(3),
  ADD COLUMN "held_at" TIMESTAMPTZ(3),
  ADD COLUMN "counts_from" TIMESTAMPTZ(3);
UPDATE enrollments SET counts_from = enrolled_at, due_at = CASE WHEN status = 'active' THEN next_email_at END;
ALTER TABLE "enrollments" ALTER COLUMN "counts_from" SET NOT NULL;
DROP INDEX enrollments_due;
CREATE INDEX enrollments_due ON enrollments (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX "enrollments_account_id_sequence_id_created_at_id_idx" ON "enrollments"("account_id", "sequence_id", "created_at", "id");
SELECT keep_count('enrollments');

-- One mail a step, whatever dies in between.
DROP INDEX "messages_account_id_enrollment_id_step_order_idx";
CREATE UNIQUE INDEX "messages_account_id_enrollment_id_step_order_key" ON "messages"("account_id", "enrollment_id", "step_order");

-- How many enrollments a sequence has in all and in each status, kept like the other totals, as the kinds 'sequence:<id>' and
-- 'sequence:<id>:<status>'.
CREATE FUNCTION count_enrolled() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO counts AS c (account_id, kind, slot, n)
  SELECT account_id, kind, pg_backend_pid() % 16, count(*) FROM new_rows,
    LATERAL unnest(ARRAY['sequence:' || sequence_id, 'sequence:' || sequence_id || ':' || status]) AS kind
  GROUP BY account_id, kind ORDER BY account_id, kind
  ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
  RETURN NULL;
END $body$;
CREATE TRIGGER count_enrolled AFTER INSERT ON enrollments REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_enrolled();

CREATE FUNCTION recount_enrolled() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO counts AS c (account_id, kind, slot, n)
  SELECT account_id, kind, pg_backend_pid() % 16, sum(d) FROM (
    SELECT account_id, 'sequence:' || sequence_id || ':' || status AS kind, 1 AS d FROM new_rows
    UNION ALL SELECT account_id, 'sequence:' || sequence_id || ':' || status, -1 FROM old_rows
  ) AS changed GROUP BY account_id, kind HAVING sum(d) <> 0 ORDER BY account_id, kind
  ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
  RETURN NULL;
END $body$;
CREATE TRIGGER recount_enrolled AFTER UPDATE ON enrollments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION recount_enrolled();

INSERT INTO counts (account_id, kind, slot, n)
SELECT account_id, kind, 0, count(*) FROM enrollments,
  LATERAL unnest(ARRAY['sequence:' || sequence_id, 'sequence:' || sequence_id || ':' || status]) AS kind
GROUP BY 1, 2;
