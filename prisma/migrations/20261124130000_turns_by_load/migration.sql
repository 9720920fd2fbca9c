-- Takes deliveries that have come due: of each source at most p_each are under way at a time, of one that only fails one, of each
-- account p_account, in all processes. Who has the fewest under way comes first, among the sources of an account and among accounts, and
-- sources that fail after others. The last quarter of an account's places is kept for sources with none under way, and so many places of a
-- process as half of an account's are kept for accounts with fewer than that under way: what is silent keeps its places for as long as an
-- attempt may take. One process at a time looks, each statement with what those before have taken.
CREATE OR REPLACE FUNCTION take_deliveries(p_now timestamptz, p_most int, p_lease int, p_each int, p_account int)
RETURNS TABLE ("accountId" uuid, id uuid, attempt int) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('take_deliveries', 0));
  RETURN QUERY
  WITH RECURSIVE source AS (
    (SELECT d.account_id, d.source_id FROM webhook_deliveries d WHERE d.due_at IS NOT NULL ORDER BY d.account_id, d.source_id LIMIT 1)
    UNION ALL
    SELECT n.account_id, n.source_id FROM source s CROSS JOIN LATERAL (
      SELECT d.account_id, d.source_id FROM webhook_deliveries d
      WHERE d.due_at IS NOT NULL AND (d.account_id, d.source_id) > (s.account_id, s.source_id)
      ORDER BY d.account_id, d.source_id LIMIT 1) n
  ), under_way AS MATERIALIZED (
    SELECT d.account_id, d.source_id, count(*)::int AS n FROM webhook_deliveries d
    WHERE d.leased_until IS NOT NULL AND d.leased_until > clock_timestamp() GROUP BY 1, 2
  ), by_account AS (
    SELECT u.account_id, sum(u.n)::int AS n FROM under_way u GROUP BY 1
  ), standing AS (
    SELECT s.account_id, s.source_id, coalesce(u.n, 0) AS n,
      EXISTS (SELECT FROM webhooks w WHERE w.account_id = s.account_id AND w.id = s.source_id AND w.failing_since IS NOT NULL) AS fails
    FROM source s LEFT JOIN under_way u USING (account_id, source_id)
  ), soon AS (
    SELECT f.account_id, f.id, f.due_at, f.load, row_number() OVER (PARTITION BY f.account_id ORDER BY f.load, f.due_at, f.id) AS nth
    FROM standing s CROSS JOIN LATERAL (
      SELECT d.account_id, d.id, d.due_at, s.n + s.fails::int + row_number() OVER (ORDER BY d.due_at) AS load FROM webhook_deliveries d
      WHERE d.account_id = s.account_id AND d.source_id = s.source_id AND d.due_at <= p_now
        AND (d.leased_until IS NULL OR d.leased_until <= clock_timestamp())
      ORDER BY d.due_at LIMIT greatest(CASE WHEN s.fails THEN 1 ELSE p_each END - s.n, 0)) f
  ), queue AS (
    SELECT s.account_id, s.id, s.nth + coalesce(b.n, 0) AS load,
      row_number() OVER (ORDER BY s.nth + coalesce(b.n, 0), s.due_at, s.id) AS place
    FROM soon s LEFT JOIN by_account b USING (account_id)
    WHERE s.nth + coalesce(b.n, 0) <= CASE WHEN s.load > 1 THEN p_account - p_account / 4 ELSE p_account END
  ), chosen AS (
    SELECT q.account_id, q.id FROM queue q WHERE q.place <= CASE WHEN q.load > p_account / 2 THEN p_most - p_account / 2 ELSE p_most END
  ), held AS (
    -- Asked again of each once it is locked: follow_deliveries takes beside this.
    SELECT d.account_id, d.id FROM webhook_deliveries d JOIN chosen USING (account_id, id)
    WHERE d.due_at <= p_now AND (d.leased_until IS NULL OR d.leased_until <= clock_timestamp()) FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE webhook_deliveries d SET attempt = d.attempt + 1, leased_until = clock_timestamp() + make_interval(secs => p_lease) FROM held
  WHERE d.account_id = held.account_id AND d.id = held.id
  RETURNING d.account_id, d.id, d.attempt;
END $body$;

-- Takes what is next of sources of an account in the places that attempts of theirs leave, in the statement that settles these: so many
-- of each are under way after it as before, and nobody looks in between. None where the account has so much under way that sources wait
-- for each other: whose turn it is then, take_deliveries says. `place` numbers those of a source.
CREATE FUNCTION follow_deliveries(p_account uuid, p_sources uuid[], p_free int[], p_now timestamptz, p_lease int, p_most int)
RETURNS TABLE ("sourceId" uuid, place bigint, id uuid, attempt int)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $body$
BEGIN
  IF (SELECT count(*) FROM webhook_deliveries d WHERE d.account_id = p_account AND d.leased_until > clock_timestamp()) >= p_most - p_most / 4
  THEN RETURN;
  END IF;
  RETURN QUERY
  WITH held AS (
    SELECT f.id, row_number() OVER (PARTITION BY s.source ORDER BY f.due_at) AS place
    FROM unnest(p_sources, p_free) AS s(source, free) CROSS JOIN LATERAL (
      SELECT d.id, d.due_at FROM webhook_deliveries d
      WHERE d.account_id = p_account AND d.source_id = s.source AND d.due_at <= p_now
        AND (d.leased_until IS NULL OR d.leased_until <= clock_timestamp())
      ORDER BY d.due_at LIMIT s.free FOR UPDATE SKIP LOCKED) f
  ), taken AS (
    UPDATE webhook_deliveries d SET attempt = d.attempt + 1, leased_until = clock_timestamp() + make_interval(secs => p_lease) FROM held
    WHERE d.account_id = p_account AND d.id = held.id
    RETURNING d.source_id, held.place, d.id, d.attempt
  )
  SELECT t.source_id, t.place, t.id, t.attempt FROM taken t;
END $body$;
