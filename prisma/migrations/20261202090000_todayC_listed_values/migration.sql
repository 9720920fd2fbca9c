-- As before; of a list the numbers and flags are hidden as well: a merge field may have filled in the whole of it.
CREATE OR REPLACE FUNCTION redact_texts(given jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF jsonb_typeof(given) = 'string' THEN
    RETURN '"[redacted]"';
  ELSIF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((
      SELECT jsonb_agg(CASE WHEN jsonb_typeof(item) IN ('number', 'boolean') THEN '"[redacted]"' ELSE redact_texts(item) END ORDER BY nth)
      FROM jsonb_array_elements(given) WITH ORDINALITY e(item, nth)), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((SELECT jsonb_object_agg(key, redact_texts(value)) FROM jsonb_each(given)), '{}');
END $body$;
