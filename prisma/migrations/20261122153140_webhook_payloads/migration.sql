-- AlterTable
ALTER TABLE "webhooks" DROP COLUMN "previous_until",
ADD COLUMN     "previous_secret_until" TIMESTAMPTZ(3);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_id_key" ON "webhook_deliveries"("id");

-- What a payload says of people is hidden from those who may not read contacts: every field of one of these names, wherever it is
-- nested; a form's answers are called `data` as the record of the payload itself is.
CREATE FUNCTION redact_people(given jsonb, depth int DEFAULT 0) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
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
        'fromNumber', 'subject', 'body', 'bodyHtml', 'description', 'notes', 'consent', 'utm', 'ip', 'userAgent', 'metadata')
        OR key LIKE 'customFields.%' OR (key = 'data' AND depth > 0) THEN '"[redacted]"'
      ELSE redact_people(value, depth + 1) END)
    FROM jsonb_each(given)), '{}');
END $body$;
