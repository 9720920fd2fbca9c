-- As before; who else gets a mail, where its answers go, and where the voice of a caller is kept, say something of people as well.
CREATE OR REPLACE FUNCTION redact_people(given jsonb, depth int DEFAULT 0) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF jsonb_typeof(given) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(redact_people(item, depth)) FROM jsonb_array_elements(given) item), '[]');
  ELSIF jsonb_typeof(given) <> 'object' THEN
    RETURN given;
  END IF;
  RETURN coalesce((
    SELECT jsonb_object_agg(key, CASE
      WHEN jsonb_typeof(value) = 'null' THEN value
      WHEN key IN ('firstName', 'lastName', 'fullName', 'contactName', 'email', 'phone', 'landline', 'jobTitle', 'addressLine1',
        'addressLine2', 'city', 'state', 'zip', 'customFields', 'attribution', 'doNotContactReason', 'toEmail', 'fromEmail', 'toNumber',
        'fromNumber', 'subject', 'body', 'bodyHtml', 'description', 'notes', 'consent', 'utm', 'ip', 'userAgent', 'metadata',
        'cc', 'bcc', 'replyTo', 'recordingUrl')
        OR key LIKE 'customFields.%' OR (key = 'data' AND depth > 0) THEN '"[redacted]"'
      ELSE redact_people(value, depth + 1) END)
    FROM jsonb_each(given)), '{}');
END $body$;
