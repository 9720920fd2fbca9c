-- Who gave events their places had to look them up again to hand them to those who listen. The step tells now which they are.

-- No relay places events while its step changes.
SELECT pg_advisory_xact_lock(7240112);

-- What a function answers can be changed in no other way. The version before asks for the columns that it knows.
DROP FUNCTION place_events(integer);

-- The relay's step: gives waiting events their places in the feeds of their accounts, in the order of seq, without gaps.
-- One relay at a time, whatever process it is in: the one that finds the lock taken answers a single row of nulls.
-- Each statement of a volatile function sees what was committed before it began, so what is placed here was placed by
-- nobody before: the lock is taken in an earlier statement than the one that looks for waiting rows. The events that got
-- their places are told by their seq, in the order of their places, of which the last one is the head.
--
-- Numbers are taken before their rows are seen, so the floor must not pass a transaction that has taken one and is not
-- over. Whoever takes a number holds a lock on the table since before, and until the rows can be seen by others (the
-- sequence hands out one number at a time). So when the writers of then are gone, a later statement sees every row that
-- there will ever be up to the mark of then.
CREATE FUNCTION place_events(most integer) RETURNS TABLE (account_id uuid, head bigint, placed bigint, seqs bigint[])
LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  floor feed_floor%ROWTYPE;
  taken bigint;
  writing text[];
  settled bigint;
  last bigint;
  total bigint := 0;
  farthest bigint := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7240112) THEN
    RETURN QUERY SELECT NULL::uuid, NULL::bigint, NULL::bigint, NULL::bigint[];
    RETURN;
  END IF;
  SELECT * INTO floor FROM feed_floor;
  SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END INTO taken FROM outbox_events_seq_seq;
  -- Looking over a few events again costs less than moving the floor at every step.
  IF taken - floor.seq > 30 THEN
    SELECT coalesce(array_agg(virtualtransaction), '{}') INTO writing FROM pg_locks
    WHERE locktype = 'relation' AND relation = 'outbox_events'::regclass AND mode = 'RowExclusiveLock'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
    settled := CASE WHEN writing = '{}' THEN taken WHEN NOT writing && floor.writers THEN floor.mark END;
  END IF;

  FOR account_id, head, placed, last, seqs IN
    WITH waiting AS (
      SELECT account_id, seq, name, only_for, row_number() OVER (PARTITION BY account_id ORDER BY seq) AS nth
      FROM (
        SELECT account_id, seq, name, only_for FROM outbox_events e
        WHERE seq > floor.seq AND (SELECT p.pos FROM feed_positions p WHERE p.account_id = e.account_id AND p.seq = e.seq) IS NULL
        ORDER BY seq LIMIT most
      ) oldest
    ), counted AS (
      SELECT account_id, count(*) AS n, max(seq) AS last, array_agg(seq ORDER BY seq) AS seqs FROM waiting GROUP BY account_id
    ), heads AS (
      INSERT INTO feed_heads AS h (account_id, pos) SELECT account_id, n FROM counted
      ON CONFLICT (account_id) DO UPDATE SET pos = h.pos + excluded.pos
      RETURNING h.account_id, h.pos
    ), numbered AS (
      INSERT INTO feed_positions (account_id, pos, seq, name, only_for)
      SELECT waiting.account_id, heads.pos - counted.n + waiting.nth, waiting.seq, waiting.name, waiting.only_for
      FROM waiting JOIN counted USING (account_id) JOIN heads USING (account_id)
    )
    SELECT heads.account_id, heads.pos, counted.n, counted.last, counted.seqs FROM heads JOIN counted USING (account_id)
  LOOP
    total := total + placed;
    farthest := greatest(farthest, last);
    RETURN NEXT;
  END LOOP;

  IF settled IS NOT NULL THEN
    -- What did not fit into this step lies behind the last event that did.
    UPDATE feed_floor SET seq = CASE WHEN total < most THEN settled ELSE least(settled, farthest) END, mark = taken, writers = writing;
  END IF;
END
$$;
