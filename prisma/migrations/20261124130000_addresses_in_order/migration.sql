-- Addresses are locked in one order by all who lock two: e-mail addresses first, as `nobody_at` is asked for them. Both in the same
-- statement of their own would wait for each other for ever.

CREATE OR REPLACE FUNCTION contacts_at(account UUID, emails TEXT[], phones TEXT[]) RETURNS TABLE (key TEXT, id UUID) LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text || a.address, 0)) FROM (
    SELECT u.address FROM (SELECT 1 AS kind, unnest(emails) AS address UNION SELECT 2, unnest(phones)) u
    ORDER BY u.kind, u.address COLLATE "C") a;
  RETURN QUERY SELECT s.key, s.id FROM contacts_seen_at(account, emails, phones) s;
END $body$;
