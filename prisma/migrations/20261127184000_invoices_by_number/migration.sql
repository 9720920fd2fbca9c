-- Numbers of invoices are searched in lower case as all other names are: by ICU where they are not ASCII, whatever locale the database has.
DROP INDEX invoices_search;
CREATE INDEX invoices_search ON invoices USING gin (account_id, (' ' || CASE WHEN octet_length(invoice_number) = length(invoice_number)
  THEN lower(invoice_number COLLATE "C") ELSE lower(invoice_number COLLATE "und-x-icu") COLLATE "C" END) gin_trgm_ops)
  WITH (gin_pending_list_limit = 512) WHERE account_id IS NOT NULL;
