-- What an attempt needs of a delivery: the address and the secrets as they are at this moment, and not when the statement began that
-- takes it, which may have waited for whoever changes them.
CREATE FUNCTION delivery_to_make(p_id uuid) RETURNS json LANGUAGE plpgsql VOLATILE AS $body$
BEGIN
  RETURN (SELECT row_to_json(r) FROM (
    SELECT coalesce(d.message_id, d.event_id) AS "messageId", d.event, d.body, d.source_kind AS "sourceKind", d.source_id AS "sourceId",
      d.attempt_count AS "attemptCount", d.first_attempt_at AS "firstAttemptAt", coalesce(d.url, w.url) AS url, d.secret AS "ownSecret",
      w.secret, w.previous_secret AS "previousSecret", w.previous_secret_until AS "previousSecretUntil", e.traceparent, e.tracestate,
      d.webhook_id IS NULL OR (w.is_active AND w.archived_at IS NULL) AS "isWanted"
    FROM webhook_deliveries d
    LEFT JOIN webhooks w ON w.account_id = d.account_id AND w.id = d.webhook_id
    LEFT JOIN outbox_events e ON e.account_id = d.account_id AND e.id = d.event_id
    WHERE d.id = p_id) r);
END $body$;

-- As before, but after the settling: what it leaves and what would follow are counted together, and a suspended account has nothing sent.
CREATE OR REPLACE FUNCTION follow_deliveries(p_account uuid, p_sources uuid[], p_free int[], p_now timestamptz, p_lease int, p_most int)
RETURNS TABLE ("sourceId" uuid, place bigint, id uuid, attempt int)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $body$
BEGIN
  IF EXISTS (SELECT FROM accounts a WHERE a.id = p_account AND a.suspended_at IS NOT NULL)
    OR (SELECT count(*) FROM webhook_deliveries d WHERE d.account_id = p_account AND d.leased_until > clock_timestamp())
      + (SELECT sum(f) FROM unnest(p_free) f) > p_most - p_most / 4
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
