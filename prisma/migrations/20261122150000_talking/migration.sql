-- Addresses of copies are lists; a message that waits says when it is due, over all accounts.
ALTER TABLE "messages" DROP COLUMN "cc", DROP COLUMN "bcc";
ALTER TABLE "messages"
  ADD COLUMN "cc" TEXT[] DEFAULT ARRAY[]::TEXT[],
  ADD COLUMN "bcc" TEXT[] DEFAULT ARRAY[]::TEXT[],
  ADD COLUMN "due_at" TIMESTAMPTZ(3);
DROP INDEX messages_scheduled;
CREATE INDEX messages_due ON messages (due_at) WHERE due_at IS NOT NULL;

-- The conversations of deleted contacts are neither listed nor counted.
ALTER TABLE "conversations" ADD COLUMN "hidden" BOOLEAN NOT NULL DEFAULT false;
UPDATE conversations v SET hidden = true FROM contacts c
WHERE c.account_id = v.account_id AND c.id = v.contact_id AND c.deleted_at IS NOT NULL;
DROP TRIGGER count_insert ON conversations;
DROP TRIGGER count_delete ON conversations;
DROP FUNCTION count_conversations();
SELECT keep_count('conversations', 'NOT hidden');
DELETE FROM counts WHERE kind = 'conversations';
INSERT INTO counts (account_id, kind, slot, n) SELECT account_id, 'conversations', 0, count(*) FROM conversations WHERE NOT hidden GROUP BY 1;

CREATE FUNCTION hide_conversation() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  UPDATE conversations SET hidden = new.deleted_at IS NOT NULL WHERE account_id = new.account_id AND contact_id = new.id;
  RETURN NULL;
END $body$;
CREATE TRIGGER hide_conversation AFTER UPDATE OF deleted_at ON contacts
  FOR EACH ROW WHEN (old.deleted_at IS DISTINCT FROM new.deleted_at) EXECUTE FUNCTION hide_conversation();

-- The head of a conversation follows its messages, whoever writes them: by what was added, so that writing one costs the same in
-- a long thread. Only what takes something away, or hands it to another contact, is computed anew.

-- Whether a message counts as said: a draft, one that waits and one that failed answer nobody.
CREATE FUNCTION is_said(status TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS $$ SELECT status IN ('sent', 'delivered', 'received') $$;

CREATE FUNCTION count_heads(accounts UUID[], contacts UUID[]) RETURNS VOID LANGUAGE plpgsql AS $body$
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
    unread_count = excluded.unread_count, message_count = excluded.message_count, updated_at = excluded.updated_at;
END $body$;

CREATE FUNCTION add_heads() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO conversations AS v (account_id, contact_id, last_message_id, last_message_at, last_inbound_at, last_outbound_at,
    unread_count, message_count, created_at, updated_at)
  SELECT n.account_id, n.contact_id,
    (array_agg(n.id ORDER BY coalesce(n.sent_at, n.created_at) DESC, n.id DESC) FILTER (WHERE is_said(n.status)))[1],
    max(coalesce(n.sent_at, n.created_at)) FILTER (WHERE is_said(n.status)),
    max(n.created_at) FILTER (WHERE n.direction = 'inbound' AND is_said(n.status)),
    max(coalesce(n.sent_at, n.created_at)) FILTER (WHERE n.direction = 'outbound' AND is_said(n.status)),
    count(*) FILTER (WHERE n.direction = 'inbound' AND n.read_at IS NULL), count(*), min(n.created_at), max(n.created_at)
  FROM new_rows n GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (account_id, contact_id) DO UPDATE SET
    last_message_id = CASE WHEN excluded.last_message_at >= coalesce(v.last_message_at, '-infinity')
      THEN excluded.last_message_id ELSE v.last_message_id END,
    last_message_at = greatest(v.last_message_at, excluded.last_message_at),
    last_inbound_at = greatest(v.last_inbound_at, excluded.last_inbound_at),
    last_outbound_at = greatest(v.last_outbound_at, excluded.last_outbound_at),
    unread_count = v.unread_count + excluded.unread_count, message_count = v.message_count + excluded.message_count,
    closed_at = CASE WHEN excluded.last_message_at IS NULL THEN v.closed_at END, updated_at = greatest(v.updated_at, excluded.updated_at);
  RETURN NULL;
END $body$;

CREATE FUNCTION change_heads() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
DECLARE
  accounts UUID[];
  contacts UUID[];
BEGIN
  SELECT array_agg(k.account_id), array_agg(k.contact_id) INTO accounts, contacts FROM (
    SELECT o.account_id, unnest(ARRAY[o.contact_id, n.contact_id]) AS contact_id
    FROM old_rows o JOIN new_rows n USING (account_id, id)
    WHERE o.contact_id <> n.contact_id OR is_said(o.status) AND NOT is_said(n.status)) k;
  IF accounts IS NOT NULL THEN PERFORM count_heads(accounts, contacts); END IF;
  UPDATE conversations v SET
    last_message_id = CASE WHEN s.at >= coalesce(v.last_message_at, '-infinity') THEN s.last_id ELSE v.last_message_id END,
    last_message_at = greatest(v.last_message_at, s.at), last_inbound_at = greatest(v.last_inbound_at, s.inbound_at),
    last_outbound_at = greatest(v.last_outbound_at, s.outbound_at), unread_count = v.unread_count - s.read,
    closed_at = CASE WHEN s.at IS NULL THEN v.closed_at END, updated_at = greatest(v.updated_at, s.updated_at)
  FROM (
    SELECT n.account_id, n.contact_id,
      (array_agg(n.id ORDER BY coalesce(n.sent_at, n.created_at) DESC, n.id DESC) FILTER (WHERE is_said(n.status) AND NOT is_said(o.status)))[1] AS last_id,
      max(coalesce(n.sent_at, n.created_at)) FILTER (WHERE is_said(n.status) AND NOT is_said(o.status)) AS at,
      max(n.created_at) FILTER (WHERE n.direction = 'inbound' AND is_said(n.status) AND NOT is_said(o.status)) AS inbound_at,
      max(coalesce(n.sent_at, n.created_at)) FILTER (WHERE n.direction = 'outbound' AND is_said(n.status) AND NOT is_said(o.status)) AS outbound_at,
      count(*) FILTER (WHERE n.direction = 'inbound' AND o.read_at IS NULL AND n.read_at IS NOT NULL)::int AS read, max(n.updated_at) AS updated_at
    FROM old_rows o JOIN new_rows n USING (account_id, id)
    WHERE o.contact_id = n.contact_id AND NOT (is_said(o.status) AND NOT is_said(n.status))
      AND (is_said(n.status) AND NOT is_said(o.status) OR o.read_at IS NULL AND n.read_at IS NOT NULL)
    GROUP BY 1, 2 ORDER BY 1, 2) s
  WHERE v.account_id = s.account_id AND v.contact_id = s.contact_id;
  RETURN NULL;
END $body$;

CREATE TRIGGER heads_insert AFTER INSERT ON messages REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION add_heads();
CREATE TRIGGER heads_update AFTER UPDATE ON messages REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION change_heads();
