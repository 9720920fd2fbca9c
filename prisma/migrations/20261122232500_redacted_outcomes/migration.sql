-- Whether a field that a condition or an action names says something of a person: changes.email.from is as secret as email.
CREATE FUNCTION names_people(field text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $body$
  SELECT redact_people(nested, 1) <> nested
  FROM (SELECT regexp_replace(field, '^changes[.](.*)[.](from|to)$', '\1') AS name) named
  CROSS JOIN LATERAL (SELECT jsonb_build_object(split_part(name, '.', 1), jsonb_build_object(regexp_replace(name, '^.*[.]', ''), 'x')) AS nested) n
$body$;

-- What actions did and what conditions saw, for those who may not read contacts: addresses, texts with merge fields, and the values of
-- fields of people.
CREATE FUNCTION redact_outcome(given jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(redact_outcome(item) ORDER BY nth) FROM jsonb_array_elements(given) WITH ORDINALITY e(item, nth)), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((
    SELECT jsonb_object_agg(key, CASE
      WHEN key IN ('seen', 'newValue') AND names_people(coalesce(given ->> 'field', '')) THEN '"[redacted]"'
      WHEN key IN ('toEmail', 'subject', 'title') AND jsonb_typeof(value) <> 'null' THEN '"[redacted]"'
      ELSE redact_outcome(value) END)
    FROM jsonb_each(given)), '{}');
END $body$;
