-- How often a form was submitted is kept in slots, as the totals of lists are: a count in the row of the form would have everybody
-- who fills it in wait for each other, to the end of their transactions.

DROP TRIGGER keep_submission_count ON submissions;
DROP FUNCTION keep_submission_count();

INSERT INTO counts (account_id, kind, slot, n)
SELECT account_id, 'form ' || form_id, 0, count(*) FROM submissions GROUP BY account_id, form_id;

CREATE FUNCTION keep_submission_counts() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO counts AS c (account_id, kind, slot, n)
  SELECT account_id, 'form ' || form_id, pg_backend_pid() % 16, count(*) FROM new_rows GROUP BY account_id, form_id ORDER BY 1, 2
  ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
  RETURN NULL;
END $body$;

CREATE TRIGGER keep_submission_counts AFTER INSERT ON submissions REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION keep_submission_counts();

-- AlterTable
ALTER TABLE "forms" DROP COLUMN "submission_count";
