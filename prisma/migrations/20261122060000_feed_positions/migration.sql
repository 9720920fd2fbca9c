-- An event's place in its account's feed is a narrow row of its own. Writing it into the event's row made a second, wide
-- version of it, with new entries in all of its indexes, and left the first one to the vacuum.

-- No relay places events while they are carried over.
SELECT pg_advisory_xact_lock(7240112);

CREATE TABLE "feed_positions" (
    "account_id" UUID NOT NULL,
    "pos" BIGINT NOT NULL,
    "seq" BIGINT NOT NULL,

    CONSTRAINT "feed_positions_pkey" PRIMARY KEY ("account_id","pos")
);

INSERT INTO feed_positions (account_id, pos, seq) SELECT account_id, pos, seq FROM outbox_events WHERE pos IS NOT NULL;

-- An event has one place at most.
CREATE UNIQUE INDEX "feed_positions_account_id_seq_key" ON "feed_positions"("account_id", "seq");

CREATE INDEX "outbox_events_seq_idx" ON "outbox_events"("seq");

-- Where the relay goes on, one row for all accounts. Every event up to `seq` has its place. `mark` is the last number that
-- had been taken when `writers` were the transactions that wrote events: once they have ended, `seq` may follow it.
CREATE TABLE "feed_floor" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "seq" BIGINT NOT NULL DEFAULT 0,
    "mark" BIGINT NOT NULL DEFAULT 0,
    "writers" TEXT[],

    CONSTRAINT "feed_floor_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "feed_floor_one_row" CHECK ("id" = 1)
);

-- The relay finds out by itself how far it is: its first step goes through all events.
INSERT INTO feed_floor (writers) VALUES ('{}');

DROP FUNCTION place_events(integer, bigint);
DROP INDEX outbox_events_waiting_seq;
ALTER TABLE "outbox_events" DROP COLUMN "pos";

-- The relay's step: gives waiting events their places in the feeds of their accounts, in the order of seq, without gaps.
-- One relay at a time, whatever process it is in: the one that finds the lock taken answers a single row of nulls.
-- Each statement of a volatile function sees what was committed before it began, so what is placed here was placed by
-- nobody before: the lock is taken in an earlier statement than the one that looks for waiting rows.
--
-- Numbers are taken before their rows are seen, so the floor must not pass a transaction that has taken one and is not
-- over. Whoever takes a number holds a lock on the table since before, and until the rows can be seen by others (the
-- sequence hands out one number at a time). So when the writers of then are gone, a later statement sees every row that
-- there will ever be up to the mark of then.
CREATE FUNCTION place_events(most integer) RETURNS TABLE (account_id uuid, head bigint, placed bigint)
LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_generic_plan AS $$
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
    RETURN QUERY SELECT NULL::uuid, NULL::bigint, NULL::bigint;
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

  FOR account_id, head, placed, last IN
    WITH waiting AS (
      SELECT account_id, seq, row_number() OVER (PARTITION BY account_id ORDER BY seq) AS nth
      FROM (
        SELECT account_id, seq FROM outbox_events e
        WHERE seq > floor.seq AND (SELECT p.pos FROM feed_positions p WHERE p.account_id = e.account_id AND p.seq = e.seq) IS NULL
        ORDER BY seq LIMIT most
      ) oldest
    ), counted AS (
      SELECT account_id, count(*) AS n, max(seq) AS last FROM waiting GROUP BY account_id
    ), heads AS (
      INSERT INTO feed_heads AS h (account_id, pos) SELECT account_id, n FROM counted
      ON CONFLICT (account_id) DO UPDATE SET pos = h.pos + excluded.pos
      RETURNING h.account_id, h.pos
    ), numbered AS (
      INSERT INTO feed_positions (account_id, pos, seq)
      SELECT waiting.account_id, heads.pos - counted.n + waiting.nth, waiting.seq
      FROM waiting JOIN counted USING (account_id) JOIN heads USING (account_id)
    )
    SELECT heads.account_id, heads.pos, counted.n, counted.last FROM heads JOIN counted USING (account_id)
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
