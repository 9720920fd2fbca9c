-- As before; whatever an action set a field to is hidden, texts within lists, numbers and flags too: merge fields may have filled it in.
CREATE OR REPLACE FUNCTION redact_outcome(given jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(redact_outcome(item) ORDER BY nth) FROM jsonb_array_elements(given) WITH ORDINALITY e(item, nth)), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((
    SELECT jsonb_object_agg(key, CASE
      WHEN key IN ('seen', 'newValue') AND names_people(coalesce(given ->> 'field', '')) THEN '"[redacted]"'
      WHEN key IN ('toEmail', 'subject', 'title', 'newValue') AND jsonb_typeof(value) <> 'null' THEN '"[redacted]"'
      ELSE redact_outcome(value) END)
    FROM jsonb_each(given)), '{}');
END $body$;

CREATE OR REPLACE FUNCTION redact_effects(given jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
BEGIN
  IF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(redact_effects(item) ORDER BY nth) FROM jsonb_array_elements(given) WITH ORDINALITY e(item, nth)), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((
    SELECT jsonb_object_agg(key, CASE
      WHEN jsonb_typeof(value) = 'null' THEN value
      WHEN key IN ('seen', 'subject', 'title', 'newValue') THEN '"[redacted]"'
      ELSE redact_effects(value) END)
    FROM jsonb_each(given)), '{}');
END $body$;
