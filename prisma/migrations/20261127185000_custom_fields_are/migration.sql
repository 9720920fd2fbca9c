-- Whether the definitions of custom fields of these records have a version still. Who asks shares them to the end of the transaction with
-- all who write values: who changes them is waited for, and comes no more. A statement of its own sees what was committed during the wait.
CREATE FUNCTION custom_fields_are(account UUID, entity TEXT, version TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(account::text || 'custom_fields', 0));
  RETURN version = (SELECT md5(coalesce(string_agg(f.xmin::text, ' ' ORDER BY f.id), '')) FROM custom_fields f
    WHERE f.account_id = account AND f.entity_type = entity);
END $body$;
