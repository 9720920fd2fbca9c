-- How many live contacts carry each tag, kept like the other totals, as the kind 'tag:<id>': counting them anew would read every
-- contact of the account for one page of tags. Contacts begin without tags, so that only changes count.
CREATE FUNCTION count_tagged() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO counts AS c (account_id, kind, slot, n)
  SELECT account_id, 'tag:' || tag_id, pg_backend_pid() % 16, sum(d) FROM (
    SELECT account_id, unnest(tag_ids) AS tag_id, 1 AS d FROM new_rows WHERE deleted_at IS NULL
    UNION ALL SELECT account_id, unnest(tag_ids), -1 FROM old_rows WHERE deleted_at IS NULL
  ) AS changed GROUP BY account_id, tag_id HAVING sum(d) <> 0 ORDER BY account_id, tag_id
  ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
  RETURN NULL;
END $body$;

CREATE TRIGGER count_tagged AFTER UPDATE ON contacts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_tagged();

INSERT INTO counts (account_id, kind, slot, n)
SELECT account_id, 'tag:' || tag_id, 0, count(*) FROM contacts, unnest(tag_ids) AS tag_id WHERE deleted_at IS NULL GROUP BY 1, 2;
