-- The relay's step: gives waiting events their places in the feeds of their accounts, in the order of seq, without gaps.
-- One relay at a time, whatever process it is in: the one that finds the lock taken answers a single row of nulls.
-- Each statement of a volatile function sees what was committed before it began, so what is placed here was placed by
-- nobody before: the lock is taken in an earlier statement than the one that looks for waiting rows.
CREATE FUNCTION place_events(most integer) RETURNS TABLE (account_id uuid, head bigint, placed bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  IF NOT pg_try_advisory_xact_lock(7240112) THEN
    RETURN QUERY SELECT NULL::uuid, NULL::bigint, NULL::bigint;
    RETURN;
  END IF;
  RETURN QUERY
  WITH waiting AS (
    SELECT account_id, id, row_number() OVER (PARTITION BY account_id ORDER BY seq) AS nth
    FROM (SELECT account_id, id, seq FROM outbox_events WHERE pos IS NULL ORDER BY seq LIMIT most) oldest
  ), counted AS (
    SELECT account_id, count(*) AS n FROM waiting GROUP BY account_id
  ), heads AS (
    INSERT INTO feed_heads AS h (account_id, pos) SELECT account_id, n FROM counted
    ON CONFLICT (account_id) DO UPDATE SET pos = h.pos + excluded.pos
    RETURNING h.account_id, h.pos
  ), numbered AS (
    UPDATE outbox_events e SET pos = heads.pos - counted.n + waiting.nth
    FROM waiting JOIN counted USING (account_id) JOIN heads USING (account_id)
    WHERE e.account_id = waiting.account_id AND e.id = waiting.id
  )
  SELECT heads.account_id, heads.pos, counted.n FROM heads JOIN counted USING (account_id);
END
$$;
