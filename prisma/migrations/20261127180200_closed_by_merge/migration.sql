-- Closed is closed until the next message: also where it was the thread of the contact who is merged into another that somebody closed.
CREATE OR REPLACE FUNCTION count_heads(accounts UUID[], contacts UUID[]) RETURNS VOID LANGUAGE plpgsql AS $body$
DECLARE
  closed JSONB;
BEGIN
  -- When the threads that end here were closed, by the contacts that their messages went to.
  WITH gone AS (
    DELETE FROM conversations v USING unnest(accounts, contacts) k(account_id, contact_id)
    WHERE v.account_id = k.account_id AND v.contact_id = k.contact_id
      AND NOT EXISTS (SELECT FROM messages m WHERE m.account_id = k.account_id AND m.contact_id = k.contact_id)
    RETURNING v.account_id, v.contact_id, v.closed_at)
  SELECT jsonb_object_agg(g.kept, g.at) INTO closed FROM (
    SELECT c.merged_into_id AS kept, max(gone.closed_at) AS at
    FROM gone JOIN contacts c ON c.account_id = gone.account_id AND c.id = gone.contact_id
    WHERE gone.closed_at IS NOT NULL AND c.merged_into_id IS NOT NULL GROUP BY 1) g;
  INSERT INTO conversations AS v (account_id, contact_id, last_message_id, last_message_at, last_inbound_at, last_outbound_at,
    unread_count, message_count, closed_at, hidden, created_at, updated_at)
  SELECT k.account_id, k.contact_id, l.id, l.at, h.last_inbound_at, h.last_outbound_at, h.unread, h.n,
    CASE WHEN l.at > g.at THEN NULL ELSE g.at END, c.deleted_at IS NOT NULL, h.first_at, h.last_at
  FROM (SELECT DISTINCT * FROM unnest(accounts, contacts) u(account_id, contact_id) ORDER BY 1, 2) k
  JOIN contacts c ON c.account_id = k.account_id AND c.id = k.contact_id
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS n, count(*) FILTER (WHERE direction = 'inbound' AND read_at IS NULL)::int AS unread,
      max(created_at) FILTER (WHERE direction = 'inbound' AND is_said(status)) AS last_inbound_at,
      max(coalesce(sent_at, created_at)) FILTER (WHERE direction = 'outbound' AND is_said(status)) AS last_outbound_at,
      min(created_at) AS first_at, max(updated_at) AS last_at
    FROM messages m WHERE m.account_id = k.account_id AND m.contact_id = k.contact_id) h
  LEFT JOIN LATERAL (
    SELECT id, coalesce(sent_at, created_at) AS at FROM messages m
    WHERE m.account_id = k.account_id AND m.contact_id = k.contact_id AND is_said(status) ORDER BY 2 DESC, 1 DESC LIMIT 1) l ON true
  CROSS JOIN LATERAL (SELECT (closed ->> k.contact_id::text)::timestamptz AS at) g
  WHERE h.n > 0
  ON CONFLICT (account_id, contact_id) DO UPDATE SET last_message_id = excluded.last_message_id,
    last_message_at = excluded.last_message_at, last_inbound_at = excluded.last_inbound_at, last_outbound_at = excluded.last_outbound_at,
    unread_count = excluded.unread_count, message_count = excluded.message_count, updated_at = excluded.updated_at,
    closed_at = CASE WHEN excluded.last_message_at > greatest(v.closed_at, excluded.closed_at) THEN NULL
      ELSE greatest(v.closed_at, excluded.closed_at) END;
END $body$;
