-- A filter that many records meet is counted from an index alone, and one that few meet is found by its value. Where the key of an
-- index is a list's order, its page is read from there too. `account_id IS NOT NULL` holds for every row.

-- Carries what filters of contacts ask about, in the order of their list.
DROP INDEX contacts_by_created_at;
CREATE INDEX contacts_by_created_at ON contacts (account_id, created_at, id)
  INCLUDE (updated_at, master_status, lead_score, do_not_contact, opted_out_sms, opted_out_email, phone, email) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_source ON contacts (account_id, source, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_master_status ON contacts (account_id, master_status, created_at, id) WHERE deleted_at IS NULL;

CREATE INDEX companies_by_industry ON companies (account_id, lower(industry COLLATE "und-x-icu"), created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX companies_by_size ON companies (account_id, size, created_at, id) WHERE deleted_at IS NULL;

CREATE INDEX messages_by_updated_at ON messages (account_id, updated_at, id) WHERE account_id IS NOT NULL;
CREATE INDEX messages_by_channel ON messages (account_id, channel, created_at, id) INCLUDE (direction, status) WHERE account_id IS NOT NULL;
CREATE INDEX messages_by_status ON messages (account_id, status, created_at, id) INCLUDE (channel) WHERE account_id IS NOT NULL;
CREATE INDEX messages_by_direction ON messages (account_id, direction, created_at, id) WHERE account_id IS NOT NULL;

CREATE INDEX calls_by_status ON calls (account_id, status, started_at, id) WHERE account_id IS NOT NULL;
CREATE INDEX calls_by_direction ON calls (account_id, direction, started_at, id) WHERE account_id IS NOT NULL;

CREATE INDEX appointments_by_calendar ON appointments (account_id, calendar_id, start_time, id) INCLUDE (status) WHERE deleted_at IS NULL;

CREATE INDEX invoices_search ON invoices USING gin (account_id, (' ' || lower(invoice_number)) gin_trgm_ops) WHERE account_id IS NOT NULL;
