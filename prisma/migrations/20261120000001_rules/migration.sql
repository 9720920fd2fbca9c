-- Hand-written: what Prisma's schema language cannot say. Its diff drops full GIN and full NULLS LAST indexes and leaves
-- partial ones alone, so every index here is partial or over an expression.

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS btree_gist;

-- Generated columns. The ICU root collation folds case as JavaScript's toLowerCase does, whatever the locale of the
-- database; "C" makes comparisons and ORDER BY agree everywhere.

ALTER TABLE users DROP COLUMN email_lower;
ALTER TABLE users ADD COLUMN email_lower TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(email COLLATE "und-x-icu")) STORED;
CREATE UNIQUE INDEX users_email_lower_key ON users (email_lower);

ALTER TABLE contacts DROP COLUMN email_lower, DROP COLUMN search_text;
ALTER TABLE contacts ADD COLUMN email_lower TEXT COLLATE "C" GENERATED ALWAYS AS (lower(email COLLATE "und-x-icu")) STORED;
-- every word follows a space: a word's prefix is LIKE '% ab%', a substring LIKE '%abc%'
ALTER TABLE contacts ADD COLUMN search_text TEXT GENERATED ALWAYS AS (lower((
  ' ' || coalesce(first_name, '') || ' ' || coalesce(last_name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(phone, '')
  || ' ' || regexp_replace(coalesce(phone, ''), '\D', '', 'g')) COLLATE "und-x-icu")) STORED;
ALTER TABLE contacts ALTER COLUMN tag_ids SET NOT NULL;

-- Values.

ALTER TABLE accounts ADD CONSTRAINT accounts_plan_check CHECK (plan IN ('trial', 'standard', 'premium', 'enterprise'));
ALTER TABLE accounts ADD CONSTRAINT accounts_billing_status_check CHECK (billing_status IN ('trialing', 'active', 'past_due', 'cancelled'));
ALTER TABLE accounts ADD CONSTRAINT accounts_billing_interval_check CHECK (billing_interval IN ('monthly', 'yearly'));
ALTER TABLE memberships ADD CONSTRAINT memberships_role_check CHECK (role IN ('owner', 'admin', 'member'));
ALTER TABLE memberships ADD CONSTRAINT memberships_status_check CHECK (status IN ('active', 'invited', 'suspended', 'removed'));
ALTER TABLE memberships ADD CONSTRAINT memberships_presence_check CHECK (presence IN ('on', 'call', 'off'));
ALTER TABLE api_keys ADD CONSTRAINT api_keys_permission_check CHECK (permission IN ('read', 'read-write', 'admin'));
ALTER TABLE api_keys ADD CONSTRAINT api_keys_kind_check CHECK (kind IN ('workspace', 'user'));
ALTER TABLE companies ADD CONSTRAINT companies_size_check CHECK (size IN ('1-10', '11-50', '51-200', '201-500', '501-1000', '1001+'));
ALTER TABLE deals ADD CONSTRAINT deals_status_check CHECK (status IN ('open', 'won', 'lost'));
ALTER TABLE tasks ADD CONSTRAINT tasks_priority_check CHECK (priority IN ('low', 'medium', 'high', 'urgent'));
ALTER TABLE tasks ADD CONSTRAINT tasks_status_check CHECK (status IN ('todo', 'in_progress', 'done'));
ALTER TABLE messages ADD CONSTRAINT messages_channel_check CHECK (channel IN ('sms', 'email'));
ALTER TABLE messages ADD CONSTRAINT messages_direction_check CHECK (direction IN ('inbound', 'outbound'));
ALTER TABLE messages ADD CONSTRAINT messages_status_check CHECK (status IN ('draft', 'scheduled', 'queued', 'sending', 'sent', 'delivered', 'received', 'failed', 'cancelled'));
ALTER TABLE messages ADD CONSTRAINT messages_transport_check CHECK (transport IN ('primary', 'vendor_line', 'chat_app', 'alt_provider'));
ALTER TABLE templates ADD CONSTRAINT templates_channel_check CHECK (channel IN ('sms', 'email'));
ALTER TABLE enrollments ADD CONSTRAINT enrollments_status_check CHECK (status IN ('active', 'paused', 'completed', 'cancelled', 'unsubscribed', 'failed'));
ALTER TABLE automations ADD CONSTRAINT automations_kind_check CHECK (kind IN ('native', 'ext'));
ALTER TABLE automations ADD CONSTRAINT automations_status_check CHECK (status IN ('draft', 'published'));
ALTER TABLE automation_runs ADD CONSTRAINT automation_runs_status_check CHECK (status IN ('running', 'waiting', 'success', 'failed', 'cancelled'));
ALTER TABLE workflow_runs ADD CONSTRAINT workflow_runs_status_check CHECK (status IN ('running', 'success', 'failed'));
ALTER TABLE calls ADD CONSTRAINT calls_direction_check CHECK (direction IN ('inbound', 'outbound'));
ALTER TABLE calls ADD CONSTRAINT calls_status_check CHECK (status IN ('completed', 'missed', 'voicemail', 'no_answer'));
ALTER TABLE appointments ADD CONSTRAINT appointments_status_check CHECK (status IN ('scheduled', 'completed', 'cancelled'));
ALTER TABLE custom_fields ADD CONSTRAINT custom_fields_entity_type_check CHECK (entity_type IN ('contact', 'deal', 'company'));
ALTER TABLE custom_fields ADD CONSTRAINT custom_fields_field_type_check CHECK (field_type IN ('text', 'textarea', 'number', 'date', 'datetime', 'url', 'select', 'radio', 'multiselect', 'boolean', 'phone', 'email'));
ALTER TABLE custom_field_cleanups ADD CONSTRAINT custom_field_cleanups_status_check CHECK (status IN ('queued', 'running', 'completed', 'failed'));
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled'));
ALTER TABLE invoices ADD CONSTRAINT invoices_status_check CHECK (status IN ('draft', 'sent', 'paid', 'overdue', 'void'));
ALTER TABLE payments ADD CONSTRAINT payments_method_check CHECK (method IN ('credit_card', 'bank_transfer', 'check', 'cash', 'other'));
ALTER TABLE imports ADD CONSTRAINT imports_status_check CHECK (status IN ('pending', 'processing', 'completed', 'failed'));
ALTER TABLE imports ADD CONSTRAINT imports_mode_check CHECK (mode IN ('create', 'update', 'upsert'));
ALTER TABLE import_rows ADD CONSTRAINT import_rows_status_check CHECK (status IN ('pending', 'created', 'updated', 'failed'));
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_state_check CHECK (state IN ('running', 'done'));

ALTER TABLE stages ADD CONSTRAINT stages_probability_check CHECK (probability BETWEEN 0 AND 1);
ALTER TABLE deals ADD CONSTRAINT deals_probability_check CHECK (probability BETWEEN 0 AND 1);
ALTER TABLE appointments ADD CONSTRAINT appointments_end_time_check CHECK (end_time > start_time);
ALTER TABLE payments ADD CONSTRAINT payments_amount_check CHECK (amount > 0);
ALTER TABLE invoices ADD CONSTRAINT invoices_amount_paid_check CHECK (amount_paid BETWEEN 0 AND total);

-- Of two that want the same place, one wins.

CREATE UNIQUE INDEX tags_account_id_name_key ON tags (account_id, lower(name COLLATE "und-x-icu"));
CREATE UNIQUE INDEX pipelines_account_id_is_default_key ON pipelines (account_id) WHERE is_default AND deleted_at IS NULL;
CREATE UNIQUE INDEX calendars_account_id_is_default_key ON calendars (account_id) WHERE is_default;
CREATE UNIQUE INDEX messages_account_id_idempotency_key_key ON messages (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX enrollments_account_id_sequence_id_contact_id_key ON enrollments (account_id, sequence_id, contact_id)
  WHERE status IN ('active', 'paused');
CREATE UNIQUE INDEX call_flows_account_id_phone_number_key ON call_flows (account_id, phone_number) WHERE phone_number IS NOT NULL;
CREATE UNIQUE INDEX call_flow_tombstones_account_id_phone_number_key ON call_flow_tombstones (account_id, phone_number)
  WHERE released_at IS NULL;
CREATE UNIQUE INDEX forms_account_id_slug_key ON forms (account_id, slug) WHERE slug IS NOT NULL AND archived_at IS NULL;

ALTER TABLE appointments ADD CONSTRAINT appointments_calendar_overlap EXCLUDE USING gist
  (account_id WITH =, calendar_id WITH =, tstzrange(start_time, end_time) WITH &&) WHERE (status = 'scheduled' AND deleted_at IS NULL);
ALTER TABLE appointments ADD CONSTRAINT appointments_assignee_overlap EXCLUDE USING gist
  (account_id WITH =, assigned_to WITH =, tstzrange(start_time, end_time) WITH &&)
  WHERE (status = 'scheduled' AND deleted_at IS NULL AND assigned_to IS NOT NULL);

-- Search. A query spells the expression exactly as here.

CREATE INDEX contacts_search ON contacts USING gin (account_id, search_text gin_trgm_ops, tag_ids) WHERE deleted_at IS NULL;
CREATE INDEX contacts_custom_fields ON contacts USING gin (account_id, custom_fields jsonb_path_ops) WHERE deleted_at IS NULL;
CREATE INDEX companies_search ON companies USING gin (account_id, (' ' || lower(name COLLATE "und-x-icu")) gin_trgm_ops) WHERE deleted_at IS NULL;
CREATE INDEX deals_search ON deals USING gin (account_id, (' ' || lower(title COLLATE "und-x-icu")) gin_trgm_ops) WHERE deleted_at IS NULL;
CREATE INDEX tasks_search ON tasks USING gin (account_id, (' ' || lower(title COLLATE "und-x-icu")) gin_trgm_ops) WHERE account_id IS NOT NULL;

-- Sorts. Nulls come last both ways, ties go by id in the direction of the sort; a column without nulls needs one index for
-- both directions. Text sorts by lower(column COLLATE "und-x-icu") COLLATE "C".

CREATE INDEX contacts_by_created_at ON contacts (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_updated_at ON contacts (account_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_lead_score ON contacts (account_id, lead_score, id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_first_name ON contacts (account_id, (lower(first_name COLLATE "und-x-icu") COLLATE "C"), id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_first_name_desc ON contacts (account_id, (lower(first_name COLLATE "und-x-icu") COLLATE "C") DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_last_name ON contacts (account_id, (lower(last_name COLLATE "und-x-icu") COLLATE "C"), id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_last_name_desc ON contacts (account_id, (lower(last_name COLLATE "und-x-icu") COLLATE "C") DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_company ON contacts (account_id, (lower(company COLLATE "und-x-icu") COLLATE "C"), id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_company_desc ON contacts (account_id, (lower(company COLLATE "und-x-icu") COLLATE "C") DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_email ON contacts (account_id, email_lower, id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_email_desc ON contacts (account_id, email_lower DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_phone ON contacts (account_id, phone) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_assignee ON contacts (account_id, assigned_to, created_at, id) WHERE deleted_at IS NULL;

CREATE INDEX companies_by_created_at ON companies (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX companies_by_updated_at ON companies (account_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX companies_by_name ON companies (account_id, (lower(name COLLATE "und-x-icu") COLLATE "C"), id) WHERE deleted_at IS NULL;

CREATE INDEX deals_by_created_at ON deals (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_updated_at ON deals (account_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_title ON deals (account_id, (lower(title COLLATE "und-x-icu") COLLATE "C"), id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_value ON deals (account_id, value, id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_value_desc ON deals (account_id, value DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_pipeline ON deals (account_id, pipeline_id, stage_id, position, id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_status ON deals (account_id, status, updated_at, id) WHERE deleted_at IS NULL;

CREATE INDEX tasks_by_due_date ON tasks (account_id, due_date, id) WHERE account_id IS NOT NULL;
CREATE INDEX tasks_by_due_date_desc ON tasks (account_id, due_date DESC NULLS LAST, id DESC) WHERE account_id IS NOT NULL;
CREATE INDEX tasks_by_title ON tasks (account_id, (lower(title COLLATE "und-x-icu") COLLATE "C"), id) WHERE account_id IS NOT NULL;
CREATE INDEX tasks_by_priority ON tasks (account_id, array_position(ARRAY['low', 'medium', 'high', 'urgent'], priority), id) WHERE account_id IS NOT NULL;
CREATE INDEX tasks_by_status ON tasks (account_id, array_position(ARRAY['todo', 'in_progress', 'done'], status), id) WHERE account_id IS NOT NULL;
CREATE INDEX tasks_open ON tasks (account_id, due_date, id) WHERE status <> 'done';

CREATE INDEX automations_by_created_at ON automations (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX workflows_by_created_at ON workflows (account_id, created_at, id) WHERE deleted_at IS NULL;

-- Work that is due. Small, because rows leave when they are done.

CREATE INDEX outbox_events_waiting ON outbox_events (account_id, seq) WHERE pos IS NULL;
CREATE INDEX messages_scheduled ON messages (account_id, scheduled_at) WHERE status = 'scheduled';
CREATE INDEX messages_unread ON messages (account_id, contact_id) WHERE direction = 'inbound' AND read_at IS NULL;
CREATE INDEX messages_by_provider_id ON messages (account_id, provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX enrollments_due ON enrollments (account_id, next_email_at) WHERE status = 'active';
CREATE INDEX automations_by_trigger ON automations (account_id, trigger_event) WHERE is_active AND deleted_at IS NULL;
CREATE INDEX automations_due ON automations (account_id, next_run_at) WHERE next_run_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX automation_runs_waiting ON automation_runs (account_id, wait_until) WHERE status IN ('running', 'waiting');
CREATE INDEX workflows_by_trigger ON workflows (account_id, trigger_event) WHERE is_active AND deleted_at IS NULL;
CREATE INDEX workflow_runs_running ON workflow_runs (account_id, started_at) WHERE status = 'running';
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (account_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX invoices_unpaid ON invoices (account_id, due_date) WHERE status IN ('sent', 'overdue');

-- Exact totals. keep_count('deals', 'deleted_at IS NULL') keeps counts of the live rows of a table. Slots let several
-- writers go on at once; the order by account keeps statements over several accounts from deadlocking.

CREATE FUNCTION keep_count(kind TEXT, live TEXT DEFAULT 'true') RETURNS VOID LANGUAGE plpgsql AS $outer$
BEGIN
  EXECUTE format($sql$
    CREATE FUNCTION count_%1$s() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
    BEGIN
      IF tg_op = 'INSERT' THEN
        INSERT INTO counts AS c (account_id, kind, slot, n)
        SELECT account_id, %1$L, pg_backend_pid() %% 16, count(*) FROM new_rows WHERE %2$s GROUP BY account_id ORDER BY account_id
        ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
      ELSIF tg_op = 'DELETE' THEN
        INSERT INTO counts AS c (account_id, kind, slot, n)
        SELECT account_id, %1$L, pg_backend_pid() %% 16, -count(*) FROM old_rows WHERE %2$s GROUP BY account_id ORDER BY account_id
        ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
      ELSE
        INSERT INTO counts AS c (account_id, kind, slot, n)
        SELECT account_id, %1$L, pg_backend_pid() %% 16, sum(d) FROM (
          SELECT account_id, 1 AS d FROM new_rows WHERE %2$s UNION ALL SELECT account_id, -1 FROM old_rows WHERE %2$s
        ) AS changed GROUP BY account_id HAVING sum(d) <> 0 ORDER BY account_id
        ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
      END IF;
      RETURN NULL;
    END $body$;
    CREATE TRIGGER count_insert AFTER INSERT ON %1$I REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION count_%1$s();
    CREATE TRIGGER count_delete AFTER DELETE ON %1$I REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION count_%1$s();
  $sql$, kind, live);
  IF live <> 'true' THEN
    EXECUTE format($sql$
      CREATE TRIGGER count_update AFTER UPDATE ON %1$I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
        FOR EACH STATEMENT EXECUTE FUNCTION count_%1$s();
    $sql$, kind);
  END IF;
END $outer$;

SELECT keep_count('contacts', 'deleted_at IS NULL');
SELECT keep_count('companies', 'deleted_at IS NULL');
SELECT keep_count('deals', 'deleted_at IS NULL');
SELECT keep_count('pipelines', 'deleted_at IS NULL');
SELECT keep_count('automations', 'deleted_at IS NULL');
SELECT keep_count('workflows', 'deleted_at IS NULL');
SELECT keep_count('templates', 'archived_at IS NULL');
SELECT keep_count('webhooks', 'archived_at IS NULL');
SELECT keep_count('forms', 'archived_at IS NULL');
SELECT keep_count('products', 'archived_at IS NULL');
SELECT keep_count('tasks');
SELECT keep_count('notes');
SELECT keep_count('tags');
SELECT keep_count('activities');
SELECT keep_count('messages');
SELECT keep_count('conversations');
SELECT keep_count('sequences');
SELECT keep_count('calls');
SELECT keep_count('invoices');

-- contacts.tag_ids repeats contact_tags for the search index. It is changed by what was added and removed, never computed
-- anew: a second transaction that waits for the row would not see the first one's tag.

CREATE FUNCTION keep_tag_ids() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
BEGIN
  IF tg_op <> 'INSERT' THEN
    UPDATE contacts AS c SET tag_ids = ARRAY(SELECT unnest(c.tag_ids) EXCEPT SELECT unnest(gone.ids) ORDER BY 1)
    FROM (SELECT account_id, contact_id, array_agg(tag_id) AS ids FROM old_rows GROUP BY account_id, contact_id) AS gone
    WHERE c.account_id = gone.account_id AND c.id = gone.contact_id;
  END IF;
  IF tg_op <> 'DELETE' THEN
    UPDATE contacts AS c SET tag_ids = ARRAY(SELECT unnest(c.tag_ids) UNION SELECT unnest(added.ids) ORDER BY 1)
    FROM (SELECT account_id, contact_id, array_agg(tag_id) AS ids FROM new_rows GROUP BY account_id, contact_id) AS added
    WHERE c.account_id = added.account_id AND c.id = added.contact_id;
  END IF;
  RETURN NULL;
END $body$;

CREATE TRIGGER keep_tag_ids_insert AFTER INSERT ON contact_tags REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION keep_tag_ids();
CREATE TRIGGER keep_tag_ids_update AFTER UPDATE ON contact_tags REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION keep_tag_ids();
CREATE TRIGGER keep_tag_ids_delete AFTER DELETE ON contact_tags REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION keep_tag_ids();
