-- Closed is closed until the next message: also where that comes from a contact who is merged in.
CREATE OR REPLACE FUNCTION count_heads(accounts UUID[], contacts UUID[]) RETURNS VOID LANGUAGE plpgsql AS $body$
BEGIN
  DELETE FROM conversations v USING unnest(accounts, contacts) k(account_id, contact_id)
  WHERE v.account_id = k.account_id AND v.contact_id = k.contact_id
    AND NOT EXISTS (SELECT FROM messages m WHERE m.account_id = k.account_id AND m.contact_id = k.contact_id);
  INSERT INTO conversations AS v (account_id, contact_id, last_message_id, last_message_at, last_inbound_at, last_outbound_at,
    unread_count, message_count, hidden, created_at, updated_at)
  SELECT k.account_id, k.contact_id, l.id, l.at, h.last_inbound_at, h.last_outbound_at, h.unread, h.n,
    c.deleted_at IS NOT NULL, h.first_at, h.last_at
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
  WHERE h.n > 0
  ON CONFLICT (account_id, contact_id) DO UPDATE SET last_message_id = excluded.last_message_id,
    last_message_at = excluded.last_message_at, last_inbound_at = excluded.last_inbound_at, last_outbound_at = excluded.last_outbound_at,
    unread_count = excluded.unread_count, message_count = excluded.message_count, updated_at = excluded.updated_at,
    closed_at = CASE WHEN excluded.last_message_at > v.closed_at THEN NULL ELSE v.closed_at END;
END $body$;
