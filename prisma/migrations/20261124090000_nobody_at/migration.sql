-- The contacts at addresses without a lock, and, for a write that was made because nobody was there, the lock with another look.

CREATE FUNCTION contacts_seen_at(account UUID, emails TEXT[], phones TEXT[]) RETURNS TABLE (key TEXT, id UUID) LANGUAGE sql STABLE AS $body$
  SELECT DISTINCT ON (f.key) f.key, f.id FROM (
    SELECT 'email/' || c.email_lower AS key, c.id, c.created_at FROM contacts c
    WHERE c.account_id = account AND c.deleted_at IS NULL AND c.email_lower = ANY (emails)
    UNION ALL
    SELECT 'phone/' || c.phone, c.id, c.created_at FROM contacts c
    WHERE c.account_id = account AND c.deleted_at IS NULL AND c.phone = ANY (phones)) f
  ORDER BY f.key, f.created_at, f.id
$body$;

CREATE OR REPLACE FUNCTION contacts_at(account UUID, emails TEXT[], phones TEXT[]) RETURNS TABLE (key TEXT, id UUID) LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text || a.address, 0))
  FROM (SELECT DISTINCT address FROM unnest(emails || phones) address ORDER BY address) a;
  RETURN QUERY SELECT s.key, s.id FROM contacts_seen_at(account, emails, phones) s;
END $body$;

-- The address is `email/` or `phone/` and the value. A statement of its own sees what was written while this one waited for the lock.
CREATE FUNCTION nobody_at(account UUID, address TEXT) RETURNS TEXT LANGUAGE plpgsql AS $body$
DECLARE
  kind TEXT := split_part(address, '/', 1);
  value TEXT := substr(address, length(kind) + 2);
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text || value, 0));
  IF EXISTS (SELECT FROM contacts_seen_at(account,
      CASE kind WHEN 'email' THEN ARRAY[value] ELSE '{}' END, CASE kind WHEN 'phone' THEN ARRAY[value] ELSE '{}' END)) THEN
    RAISE EXCEPTION 'somebody is at the address by now' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN '';
END $body$;
