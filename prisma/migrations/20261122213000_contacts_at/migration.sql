-- The contacts at some addresses, the oldest of several, while other upserts of these addresses wait: two of them must not both find
-- nobody. In one order, so that none waits for ever. A function, since each of its statements sees what was committed before it, and
-- so what those wrote who had the locks: one round trip for both.
CREATE FUNCTION contacts_at(account UUID, emails TEXT[], phones TEXT[]) RETURNS TABLE (key TEXT, id UUID) LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text || a.address, 0))
  FROM (SELECT DISTINCT address FROM unnest(emails || phones) address ORDER BY address) a;
  RETURN QUERY SELECT DISTINCT ON (f.key) f.key, f.id FROM (
    SELECT 'email/' || c.email_lower AS key, c.id, c.created_at FROM contacts c
    WHERE c.account_id = account AND c.deleted_at IS NULL AND c.email_lower = ANY (emails)
    UNION ALL
    SELECT 'phone/' || c.phone, c.id, c.created_at FROM contacts c
    WHERE c.account_id = account AND c.deleted_at IS NULL AND c.phone = ANY (phones)) f
  ORDER BY f.key, f.created_at, f.id;
END $body$;
