-- CreateIndex
CREATE INDEX "submissions_account_id_submitted_at_id_idx" ON "submissions"("account_id", "submitted_at", "id");

-- forms.submission_count counts the submissions of a form. The forms are locked in one order, so that two statements that add to
-- the same ones wait for each other instead of for ever; a submission never waits for whoever else has only read its form.

CREATE FUNCTION keep_submission_count() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM 1 FROM forms f JOIN (SELECT DISTINCT account_id, form_id FROM new_rows) AS added
    ON f.account_id = added.account_id AND f.id = added.form_id
    ORDER BY f.account_id, f.id FOR NO KEY UPDATE OF f;
  UPDATE forms AS f SET submission_count = f.submission_count + added.n
  FROM (SELECT account_id, form_id, count(*) AS n FROM new_rows GROUP BY account_id, form_id) AS added
  WHERE f.account_id = added.account_id AND f.id = added.form_id;
  RETURN NULL;
END $body$;

CREATE TRIGGER keep_submission_count AFTER INSERT ON submissions REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION keep_submission_count();
