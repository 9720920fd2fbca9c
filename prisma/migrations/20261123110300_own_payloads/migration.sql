-- AlterTable
ALTER TABLE "webhook_deliveries" ADD COLUMN     "own_payload" BOOLEAN NOT NULL DEFAULT false;

UPDATE webhook_deliveries SET own_payload = true
WHERE source_kind <> 'webhook' AND NOT body::jsonb ?& array['id', 'event', 'createdAt', 'workspaceId', 'data'];

-- Every text of a JSON value is hidden: its members are called as somebody liked, and any of them may have been filled in with what is
-- of a person.
CREATE FUNCTION redact_texts(given jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF jsonb_typeof(given) = 'string' THEN
    RETURN '"[redacted]"';
  ELSIF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(redact_texts(item) ORDER BY nth) FROM jsonb_array_elements(given) WITH ORDINALITY e(item, nth)), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((SELECT jsonb_object_agg(key, redact_texts(value)) FROM jsonb_each(given)), '{}');
END $body$;

-- As before; a text that an action wrote is hidden in whatever field it is, since merge fields may have filled it in.
CREATE OR REPLACE FUNCTION redact_outcome(given jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(redact_outcome(item) ORDER BY nth) FROM jsonb_array_elements(given) WITH ORDINALITY e(item, nth)), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((
    SELECT jsonb_object_agg(key, CASE
      WHEN key = 'newValue' AND jsonb_typeof(value) = 'string' THEN '"[redacted]"'
      WHEN key IN ('seen', 'newValue') AND names_people(coalesce(given ->> 'field', '')) THEN '"[redacted]"'
      WHEN key IN ('toEmail', 'subject', 'title') AND jsonb_typeof(value) <> 'null' THEN '"[redacted]"'
      ELSE redact_outcome(value) END)
    FROM jsonb_each(given)), '{}');
END $body$;
