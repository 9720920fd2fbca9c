-- A record, or the changes of one, for keys that lack the scope of its domain: which record it is, and which ones it names, stays, and
-- what there is nothing of.
CREATE FUNCTION redact_record(given jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT AS $body$
  SELECT CASE WHEN jsonb_typeof(given) <> 'object' THEN given ELSE coalesce((
    SELECT jsonb_object_agg(key, CASE
      WHEN jsonb_typeof(value) = 'null' THEN value
      WHEN (key = 'id' OR key LIKE '%Id') AND value #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN value
      ELSE '"[redacted]"' END)
    FROM jsonb_each(given)), '{}') END
$body$;

-- A payload with such a record in its `data`.
CREATE FUNCTION redact_payload(given jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT AS $body$
  SELECT CASE WHEN jsonb_typeof(given) <> 'object' THEN given ELSE coalesce((
    SELECT jsonb_object_agg(key, CASE WHEN key IN ('data', 'changes') THEN redact_record(value) ELSE value END)
    FROM jsonb_each(given)), '{}') END
$body$;

-- What actions did and conditions saw because of such a record: what conditions saw, and the texts that merge fields may have filled in.
CREATE FUNCTION redact_effects(given jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
BEGIN
  IF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(redact_effects(item) ORDER BY nth) FROM jsonb_array_elements(given) WITH ORDINALITY e(item, nth)), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((
    SELECT jsonb_object_agg(key, CASE
      WHEN jsonb_typeof(value) = 'null' THEN value
      WHEN key IN ('seen', 'subject', 'title') OR (key = 'newValue' AND jsonb_typeof(value) = 'string') THEN '"[redacted]"'
      ELSE redact_effects(value) END)
    FROM jsonb_each(given)), '{}');
END $body$;
