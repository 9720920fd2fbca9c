-- CreateTable
CREATE TABLE "accounts" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "plan" TEXT NOT NULL DEFAULT 'trial',
    "billing_status" TEXT NOT NULL DEFAULT 'trialing',
    "billing_interval" TEXT,
    "current_period_end" TIMESTAMPTZ(3),
    "trial_ends_at" TIMESTAMPTZ(3),
    "stripe_customer_id" TEXT,
    "stripe_subscription_id" TEXT,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "default_country" TEXT NOT NULL DEFAULT 'US',
    "currency" TEXT NOT NULL DEFAULT 'USD',
    "default_tax_rate" DECIMAL(9,6) NOT NULL DEFAULT 0,
    "lost_reason_required" BOOLEAN NOT NULL DEFAULT false,
    "lost_reasons" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "mfa_roles" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "suspended_at" TIMESTAMPTZ(3),
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "email_lower" TEXT NOT NULL,
    "password_hash" TEXT,
    "first_name" TEXT,
    "last_name" TEXT,
    "mfa_secret" TEXT,
    "mfa_enabled_at" TIMESTAMPTZ(3),
    "mfa_last_step" INTEGER,
    "recovery_codes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memberships" (
    "account_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL DEFAULT 'member',
    "status" TEXT NOT NULL DEFAULT 'active',
    "name" TEXT NOT NULL,
    "phone" TEXT,
    "extension" TEXT,
    "permissions" JSONB NOT NULL DEFAULT '{}',
    "presence" TEXT NOT NULL DEFAULT 'off',
    "last_active_at" TIMESTAMPTZ(3),
    "invited_by" UUID,
    "invited_at" TIMESTAMPTZ(3),
    "removed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("account_id","user_id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "account_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "ip" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "permission" TEXT NOT NULL,
    "kind" TEXT NOT NULL DEFAULT 'workspace',
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "ip_allowlist" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rate_limit" INTEGER,
    "created_by" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tokens" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "account_id" UUID,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "data" JSONB,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "activities" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "contact_id" UUID,
    "deal_id" UUID,
    "metadata" JSONB,
    "entity_type" TEXT,
    "entity_id" UUID,
    "action" TEXT,
    "changes" JSONB,
    "user_id" UUID,
    "user_name" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "activities_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "automations" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "kind" TEXT NOT NULL DEFAULT 'native',
    "status" TEXT NOT NULL DEFAULT 'draft',
    "is_active" BOOLEAN NOT NULL DEFAULT false,
    "trigger_event" TEXT,
    "trigger" JSONB,
    "trigger_conditions" JSONB,
    "actions" JSONB,
    "graph" JSONB,
    "graph_version" INTEGER,
    "nodes" JSONB,
    "start_node_id" TEXT,
    "schedule" TEXT,
    "schedule_timezone" TEXT,
    "next_run_at" TIMESTAMPTZ(3),
    "folder_id" TEXT,
    "ext_webhook_url" TEXT,
    "ext_workflow_id" TEXT,
    "ext_secret" TEXT,
    "published_version" INTEGER,
    "published_at" TIMESTAMPTZ(3),
    "last_triggered_at" TIMESTAMPTZ(3),
    "run_count" INTEGER NOT NULL DEFAULT 0,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "automations_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "automation_versions" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "automation_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "graph" JSONB NOT NULL,
    "published_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "automation_versions_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "automation_runs" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "automation_id" UUID NOT NULL,
    "version" INTEGER,
    "contact_id" UUID,
    "entity_type" TEXT,
    "entity_id" UUID,
    "event_id" UUID,
    "status" TEXT NOT NULL DEFAULT 'running',
    "trigger_event" TEXT,
    "trigger_data" JSONB,
    "current_node_id" TEXT,
    "wait_until" TIMESTAMPTZ(3),
    "state" JSONB,
    "error" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "automation_runs_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "automation_step_logs" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "automation_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "node_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "input" JSONB,
    "output" JSONB,
    "error" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "automation_step_logs_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "calendars" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "description" TEXT,
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "calendars_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "appointments" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "calendar_id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "start_time" TIMESTAMPTZ(3) NOT NULL,
    "end_time" TIMESTAMPTZ(3) NOT NULL,
    "contact_id" UUID,
    "deal_id" UUID,
    "status" TEXT NOT NULL DEFAULT 'scheduled',
    "notes" TEXT,
    "assigned_to" UUID,
    "description" TEXT,
    "location" TEXT,
    "metadata" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "appointments_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "calls" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "contact_id" UUID,
    "direction" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "duration" INTEGER,
    "notes" TEXT,
    "disposition" TEXT,
    "source" TEXT,
    "from_number" TEXT,
    "to_number" TEXT,
    "user_id" UUID,
    "call_flow_id" UUID,
    "call_flow_version" INTEGER,
    "provider_id" TEXT,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "calls_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "call_flows" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "phone_number" TEXT,
    "draft_graph" JSONB NOT NULL,
    "draft_revision" INTEGER NOT NULL DEFAULT 1,
    "published_graph" JSONB,
    "published_version" INTEGER,
    "published_at" TIMESTAMPTZ(3),
    "wiring" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "call_flows_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "call_flow_versions" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "call_flow_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "phone_number" TEXT,
    "graph" JSONB NOT NULL,
    "published_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "call_flow_versions_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "call_flow_tombstones" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "phone_number" TEXT NOT NULL,
    "call_flow_id" UUID,
    "prior_config" JSONB,
    "released_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "call_flow_tombstones_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "phone_numbers" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "number" TEXT NOT NULL,
    "label" TEXT,
    "provider" TEXT NOT NULL,
    "provider_id" TEXT,
    "has_voice" BOOLEAN NOT NULL DEFAULT true,
    "has_sms" BOOLEAN NOT NULL DEFAULT true,
    "claimed_by" TEXT,
    "claimed_by_id" UUID,
    "wiring" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "phone_numbers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "companies" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "domain" TEXT,
    "industry" TEXT,
    "size" TEXT,
    "annual_revenue" DECIMAL(18,2),
    "owner_id" UUID,
    "parent_company_id" UUID,
    "lifecycle_stage" TEXT,
    "website" TEXT,
    "phone" TEXT,
    "address" TEXT,
    "city" TEXT,
    "state" TEXT,
    "zip" TEXT,
    "country" TEXT,
    "description" TEXT,
    "custom_fields" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "companies_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "contacts" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "first_name" TEXT,
    "last_name" TEXT,
    "email" TEXT,
    "email_lower" TEXT,
    "phone" TEXT,
    "phone_type" TEXT,
    "company" TEXT,
    "company_id" UUID,
    "job_title" TEXT,
    "source" TEXT,
    "address_line1" TEXT,
    "address_line2" TEXT,
    "city" TEXT,
    "state" TEXT,
    "zip" TEXT,
    "country" TEXT,
    "timezone" TEXT,
    "legacy_status" TEXT,
    "master_status" TEXT NOT NULL DEFAULT 'lead',
    "external_backend" BOOLEAN,
    "language" TEXT,
    "do_not_contact" BOOLEAN DEFAULT false,
    "do_not_contact_reason" TEXT,
    "opted_out_sms" BOOLEAN NOT NULL DEFAULT false,
    "opted_out_email" BOOLEAN NOT NULL DEFAULT false,
    "assigned_to" UUID,
    "tag_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "custom_fields" JSONB NOT NULL DEFAULT '{}',
    "attribution" JSONB,
    "lead_score" INTEGER NOT NULL DEFAULT 0,
    "score_factors" JSONB,
    "scored_at" TIMESTAMPTZ(3),
    "last_activity_at" TIMESTAMPTZ(3),
    "last_contacted_at" TIMESTAMPTZ(3),
    "import_id" UUID,
    "merged_into_id" UUID,
    "search_text" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "contacts_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "custom_fields" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "entity_type" TEXT NOT NULL,
    "field_key" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "field_type" TEXT NOT NULL,
    "section" TEXT,
    "options" JSONB,
    "is_required" BOOLEAN NOT NULL DEFAULT false,
    "sort_order" DECIMAL(12,4) NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "custom_fields_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "custom_field_cleanups" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "entity_type" TEXT NOT NULL,
    "field_key" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "value_count" INTEGER NOT NULL DEFAULT 0,
    "cleaned_count" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "custom_field_cleanups_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "deals" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "pipeline_id" UUID NOT NULL,
    "stage_id" UUID NOT NULL,
    "contact_id" UUID,
    "company_id" UUID,
    "value" DECIMAL(18,2),
    "value_from_products" BOOLEAN NOT NULL DEFAULT false,
    "currency" TEXT NOT NULL DEFAULT 'USD',
    "status" TEXT NOT NULL DEFAULT 'open',
    "priority" TEXT,
    "source" TEXT,
    "lost_reason" TEXT,
    "probability" DECIMAL(5,4),
    "expected_close_date" DATE,
    "appointment_at" TIMESTAMPTZ(3),
    "assigned_to" UUID,
    "custom_fields" JSONB NOT NULL DEFAULT '{}',
    "position" DECIMAL(30,15) NOT NULL DEFAULT 0,
    "stage_entered_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "last_activity_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "deals_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "deal_products" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "deal_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "quantity" DECIMAL(18,4) NOT NULL DEFAULT 1,
    "unit_price" DECIMAL(18,2) NOT NULL,
    "discount" DECIMAL(18,2),
    "tax" DECIMAL(18,2),
    "sort_order" DECIMAL(12,4) NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deal_products_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "forms" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "slug" TEXT,
    "fields" JSONB NOT NULL DEFAULT '[]',
    "redirect_url" TEXT,
    "thank_you_message" TEXT,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "hyros_tag" TEXT,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "submission_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "archived_at" TIMESTAMPTZ(3),

    CONSTRAINT "forms_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "submissions" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "form_id" UUID NOT NULL,
    "contact_id" UUID,
    "data" JSONB NOT NULL,
    "source" TEXT,
    "attribution" JSONB,
    "consent" JSONB,
    "utm" JSONB,
    "ip" TEXT,
    "submitted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "submissions_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "public_forms" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "public_forms_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "imports" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "mode" TEXT NOT NULL DEFAULT 'create',
    "match_on" TEXT,
    "mapping" JSONB NOT NULL DEFAULT '{}',
    "total_rows" INTEGER NOT NULL DEFAULT 0,
    "processed_rows" INTEGER NOT NULL DEFAULT 0,
    "created_count" INTEGER NOT NULL DEFAULT 0,
    "updated_count" INTEGER NOT NULL DEFAULT 0,
    "error_count" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "imports_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "import_rows" (
    "account_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "row" INTEGER NOT NULL,
    "data" JSONB NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "field" TEXT,
    "error" TEXT,
    "contact_id" UUID,

    CONSTRAINT "import_rows_pkey" PRIMARY KEY ("account_id","import_id","row")
);

-- CreateTable
CREATE TABLE "invoices" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "invoice_number" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "contact_id" UUID,
    "company_id" UUID,
    "deal_id" UUID,
    "currency" TEXT NOT NULL DEFAULT 'USD',
    "terms" TEXT,
    "notes" TEXT,
    "tax_rate" DECIMAL(9,6) NOT NULL DEFAULT 0,
    "subtotal" DECIMAL(18,2) NOT NULL DEFAULT 0,
    "tax_amount" DECIMAL(18,2) NOT NULL DEFAULT 0,
    "total" DECIMAL(18,2) NOT NULL DEFAULT 0,
    "amount_paid" DECIMAL(18,2) NOT NULL DEFAULT 0,
    "due_date" DATE NOT NULL,
    "sent_at" TIMESTAMPTZ(3),
    "paid_at" TIMESTAMPTZ(3),
    "voided_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invoices_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "invoice_items" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "product_id" UUID,
    "description" TEXT NOT NULL,
    "quantity" DECIMAL(18,4) NOT NULL,
    "unit_price" DECIMAL(18,2) NOT NULL,
    "amount" DECIMAL(18,2) NOT NULL,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invoice_items_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "payments" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "amount" DECIMAL(18,2) NOT NULL,
    "method" TEXT NOT NULL,
    "reference" TEXT,
    "notes" TEXT,
    "paid_at" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL,
    "recorded_by" UUID,

    CONSTRAINT "payments_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "invoice_counters" (
    "account_id" UUID NOT NULL,
    "last_number" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "invoice_counters_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "account_id" UUID NOT NULL,
    "principal" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'running',
    "status" INTEGER,
    "response" JSON,
    "headers" JSONB,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("account_id","principal","key")
);

-- CreateTable
CREATE TABLE "counts" (
    "account_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "slot" INTEGER NOT NULL,
    "n" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "counts_pkey" PRIMARY KEY ("account_id","kind","slot")
);

-- CreateTable
CREATE TABLE "conversations" (
    "account_id" UUID NOT NULL,
    "contact_id" UUID NOT NULL,
    "last_message_id" UUID,
    "last_message_at" TIMESTAMPTZ(3),
    "last_inbound_at" TIMESTAMPTZ(3),
    "last_outbound_at" TIMESTAMPTZ(3),
    "unread_count" INTEGER NOT NULL DEFAULT 0,
    "message_count" INTEGER NOT NULL DEFAULT 0,
    "closed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "conversations_pkey" PRIMARY KEY ("account_id","contact_id")
);

-- CreateTable
CREATE TABLE "messages" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "contact_id" UUID NOT NULL,
    "channel" TEXT NOT NULL,
    "direction" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "body_html" TEXT,
    "subject" TEXT,
    "from_number" TEXT,
    "to_number" TEXT,
    "from_email" TEXT,
    "to_email" TEXT,
    "reply_to" TEXT,
    "cc" JSONB,
    "bcc" JSONB,
    "transport" TEXT,
    "line_id" TEXT,
    "provider" TEXT,
    "provider_id" TEXT,
    "metadata" JSONB,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "error" TEXT,
    "idempotency_key" TEXT,
    "request_hash" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3),
    "scheduled_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),
    "read_at" TIMESTAMPTZ(3),
    "opened_at" TIMESTAMPTZ(3),
    "clicked_at" TIMESTAMPTZ(3),
    "replied_at" TIMESTAMPTZ(3),
    "bounced_at" TIMESTAMPTZ(3),
    "unsubscribed_at" TIMESTAMPTZ(3),
    "user_id" UUID,
    "template_id" UUID,
    "enrollment_id" UUID,
    "step_order" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "notes" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "body" TEXT NOT NULL,
    "contact_id" UUID,
    "deal_id" UUID,
    "is_pinned" BOOLEAN NOT NULL DEFAULT false,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "notes_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "outbox_events" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "pos" BIGINT,
    "name" TEXT NOT NULL,
    "entity_type" TEXT NOT NULL,
    "entity_id" UUID NOT NULL,
    "data" JSON NOT NULL,
    "changes" JSONB,
    "actor_id" UUID,
    "actor_name" TEXT,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "outbox_events_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "feed_heads" (
    "account_id" UUID NOT NULL,
    "pos" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "feed_heads_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "pipelines" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "pipelines_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "stages" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "pipeline_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "color" TEXT,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "is_won" BOOLEAN NOT NULL DEFAULT false,
    "is_lost" BOOLEAN NOT NULL DEFAULT false,
    "probability" DECIMAL(5,4),
    "lost_reason_required" BOOLEAN NOT NULL DEFAULT false,
    "lost_reasons" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "stages_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "products" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "price" DECIMAL(18,2),
    "sku" TEXT,
    "unit" TEXT,
    "taxable" BOOLEAN NOT NULL DEFAULT true,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "currency" TEXT NOT NULL DEFAULT 'USD',
    "metadata" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "archived_at" TIMESTAMPTZ(3),

    CONSTRAINT "products_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "sequences" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "status" TEXT NOT NULL DEFAULT 'active',
    "version" INTEGER NOT NULL DEFAULT 1,
    "auto_unenroll_on_bounce" BOOLEAN NOT NULL DEFAULT true,
    "auto_unenroll_on_meeting" BOOLEAN NOT NULL DEFAULT false,
    "auto_unenroll_on_reply" BOOLEAN NOT NULL DEFAULT true,
    "auto_unenroll_on_unsubscribe" BOOLEAN NOT NULL DEFAULT true,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sequences_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "sequence_steps" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "sequence_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "order" INTEGER NOT NULL,
    "template_id" UUID,
    "delay_days" INTEGER NOT NULL,
    "subject" TEXT,
    "body" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sequence_steps_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "enrollments" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "sequence_id" UUID NOT NULL,
    "contact_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "current_step" INTEGER NOT NULL DEFAULT 0,
    "total_steps" INTEGER NOT NULL,
    "enrolled_at" TIMESTAMPTZ(3) NOT NULL,
    "last_email_sent_at" TIMESTAMPTZ(3),
    "next_email_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3),
    "enrolled_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "enrollments_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "smart_lists" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "entity_type" TEXT NOT NULL DEFAULT 'contact',
    "filters" JSONB NOT NULL,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "smart_lists_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "tags" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "color" TEXT NOT NULL DEFAULT '#6B7280',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tags_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "contact_tags" (
    "account_id" UUID NOT NULL,
    "contact_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "contact_tags_pkey" PRIMARY KEY ("account_id","contact_id","tag_id")
);

-- CreateTable
CREATE TABLE "tasks" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "due_date" TIMESTAMPTZ(3),
    "priority" TEXT NOT NULL DEFAULT 'medium',
    "status" TEXT NOT NULL DEFAULT 'todo',
    "assigned_to" UUID,
    "contact_id" UUID,
    "deal_id" UUID,
    "completed_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "templates" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "subject" TEXT,
    "body" TEXT NOT NULL,
    "body_html" TEXT,
    "category" TEXT,
    "provider" TEXT,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "merge_fields" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "archived_at" TIMESTAMPTZ(3),

    CONSTRAINT "templates_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "vendor_connections" (
    "account_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'connected',
    "api_key" TEXT NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "connected_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "vendor_connections_pkey" PRIMARY KEY ("account_id","provider")
);

-- CreateTable
CREATE TABLE "line_assignments" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "line_id" TEXT NOT NULL,
    "phone_number" TEXT NOT NULL,
    "label" TEXT,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "line_assignments_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "webhooks" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "description" TEXT,
    "secret" TEXT NOT NULL,
    "last_fired_at" TIMESTAMPTZ(3),
    "fail_count" INTEGER NOT NULL DEFAULT 0,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "archived_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "first_attempt_at" TIMESTAMPTZ(3),
    "next_attempt_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),
    "response_status" INTEGER,
    "response_time_ms" INTEGER,
    "response_body" TEXT,
    "error" TEXT,
    "replay_of" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "webhook_attempts" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "delivery_id" UUID NOT NULL,
    "attempt" INTEGER NOT NULL,
    "response_status" INTEGER,
    "response_time_ms" INTEGER,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "workflows" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "is_active" BOOLEAN NOT NULL DEFAULT false,
    "trigger" JSONB NOT NULL,
    "trigger_event" TEXT NOT NULL,
    "actions" JSONB NOT NULL DEFAULT '[]',
    "run_count" INTEGER NOT NULL DEFAULT 0,
    "last_run_at" TIMESTAMPTZ(3),
    "activated_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "workflows_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "workflow_runs" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "workflow_name" TEXT NOT NULL,
    "event_id" UUID,
    "contact_id" UUID,
    "status" TEXT NOT NULL DEFAULT 'running',
    "trigger_event" TEXT NOT NULL,
    "trigger_data" JSONB,
    "actions" JSONB NOT NULL DEFAULT '[]',
    "next_action" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workflow_runs_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "accounts_stripe_customer_id_key" ON "accounts"("stripe_customer_id");

-- CreateIndex
CREATE UNIQUE INDEX "accounts_stripe_subscription_id_key" ON "accounts"("stripe_subscription_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_lower_key" ON "users"("email_lower");

-- CreateIndex
CREATE INDEX "memberships_user_id_idx" ON "memberships"("user_id");

-- CreateIndex
CREATE INDEX "memberships_account_id_created_at_user_id_idx" ON "memberships"("account_id", "created_at", "user_id");

-- CreateIndex
CREATE INDEX "memberships_account_id_invited_by_idx" ON "memberships"("account_id", "invited_by");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_account_id_user_id_idx" ON "sessions"("account_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_account_id_created_at_idx" ON "api_keys"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "api_keys_account_id_created_by_idx" ON "api_keys"("account_id", "created_by");

-- CreateIndex
CREATE UNIQUE INDEX "tokens_hash_key" ON "tokens"("hash");

-- CreateIndex
CREATE INDEX "tokens_user_id_kind_idx" ON "tokens"("user_id", "kind");

-- CreateIndex
CREATE INDEX "activities_account_id_created_at_id_idx" ON "activities"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "activities_account_id_contact_id_created_at_id_idx" ON "activities"("account_id", "contact_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "activities_account_id_deal_id_created_at_id_idx" ON "activities"("account_id", "deal_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "activities_account_id_type_created_at_id_idx" ON "activities"("account_id", "type", "created_at", "id");

-- CreateIndex
CREATE INDEX "activities_account_id_entity_id_created_at_id_idx" ON "activities"("account_id", "entity_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "activities_account_id_user_id_idx" ON "activities"("account_id", "user_id");

-- CreateIndex
CREATE INDEX "automations_account_id_created_by_idx" ON "automations"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "automation_versions_account_id_published_by_idx" ON "automation_versions"("account_id", "published_by");

-- CreateIndex
CREATE UNIQUE INDEX "automation_versions_account_id_automation_id_version_key" ON "automation_versions"("account_id", "automation_id", "version");

-- CreateIndex
CREATE INDEX "automation_runs_account_id_automation_id_started_at_id_idx" ON "automation_runs"("account_id", "automation_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "automation_runs_account_id_contact_id_idx" ON "automation_runs"("account_id", "contact_id");

-- CreateIndex
CREATE UNIQUE INDEX "automation_runs_account_id_automation_id_event_id_key" ON "automation_runs"("account_id", "automation_id", "event_id");

-- CreateIndex
CREATE INDEX "automation_step_logs_account_id_automation_id_started_at_id_idx" ON "automation_step_logs"("account_id", "automation_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "automation_step_logs_account_id_run_id_started_at_id_idx" ON "automation_step_logs"("account_id", "run_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "calendars_account_id_created_at_id_idx" ON "calendars"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "appointments_account_id_calendar_id_start_time_id_idx" ON "appointments"("account_id", "calendar_id", "start_time", "id");

-- CreateIndex
CREATE INDEX "appointments_account_id_contact_id_start_time_idx" ON "appointments"("account_id", "contact_id", "start_time");

-- CreateIndex
CREATE INDEX "appointments_account_id_deal_id_idx" ON "appointments"("account_id", "deal_id");

-- CreateIndex
CREATE INDEX "appointments_account_id_assigned_to_start_time_idx" ON "appointments"("account_id", "assigned_to", "start_time");

-- CreateIndex
CREATE INDEX "calls_account_id_created_at_id_idx" ON "calls"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "calls_account_id_started_at_id_idx" ON "calls"("account_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "calls_account_id_contact_id_created_at_id_idx" ON "calls"("account_id", "contact_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "calls_account_id_user_id_created_at_id_idx" ON "calls"("account_id", "user_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "calls_account_id_call_flow_id_created_at_idx" ON "calls"("account_id", "call_flow_id", "created_at");

-- CreateIndex
CREATE INDEX "call_flows_account_id_created_at_id_idx" ON "call_flows"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "call_flow_versions_account_id_published_by_idx" ON "call_flow_versions"("account_id", "published_by");

-- CreateIndex
CREATE UNIQUE INDEX "call_flow_versions_account_id_call_flow_id_version_key" ON "call_flow_versions"("account_id", "call_flow_id", "version");

-- CreateIndex
CREATE INDEX "call_flow_tombstones_account_id_call_flow_id_idx" ON "call_flow_tombstones"("account_id", "call_flow_id");

-- CreateIndex
CREATE UNIQUE INDEX "phone_numbers_number_key" ON "phone_numbers"("number");

-- CreateIndex
CREATE INDEX "phone_numbers_account_id_idx" ON "phone_numbers"("account_id");

-- CreateIndex
CREATE INDEX "companies_account_id_owner_id_idx" ON "companies"("account_id", "owner_id");

-- CreateIndex
CREATE INDEX "companies_account_id_parent_company_id_idx" ON "companies"("account_id", "parent_company_id");

-- CreateIndex
CREATE INDEX "contacts_account_id_company_id_idx" ON "contacts"("account_id", "company_id");

-- CreateIndex
CREATE INDEX "contacts_account_id_import_id_idx" ON "contacts"("account_id", "import_id");

-- CreateIndex
CREATE INDEX "contacts_account_id_merged_into_id_idx" ON "contacts"("account_id", "merged_into_id");

-- CreateIndex
CREATE INDEX "custom_fields_account_id_entity_type_sort_order_id_idx" ON "custom_fields"("account_id", "entity_type", "sort_order", "id");

-- CreateIndex
CREATE UNIQUE INDEX "custom_fields_account_id_entity_type_field_key_key" ON "custom_fields"("account_id", "entity_type", "field_key");

-- CreateIndex
CREATE INDEX "custom_field_cleanups_account_id_created_at_idx" ON "custom_field_cleanups"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "deals_account_id_contact_id_idx" ON "deals"("account_id", "contact_id");

-- CreateIndex
CREATE INDEX "deals_account_id_company_id_idx" ON "deals"("account_id", "company_id");

-- CreateIndex
CREATE INDEX "deals_account_id_assigned_to_idx" ON "deals"("account_id", "assigned_to");

-- CreateIndex
CREATE INDEX "deals_account_id_stage_id_position_id_idx" ON "deals"("account_id", "stage_id", "position", "id");

-- CreateIndex
CREATE INDEX "deal_products_account_id_deal_id_sort_order_id_idx" ON "deal_products"("account_id", "deal_id", "sort_order", "id");

-- CreateIndex
CREATE INDEX "forms_account_id_created_at_id_idx" ON "forms"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "submissions_account_id_form_id_submitted_at_id_idx" ON "submissions"("account_id", "form_id", "submitted_at", "id");

-- CreateIndex
CREATE INDEX "submissions_account_id_contact_id_idx" ON "submissions"("account_id", "contact_id");

-- CreateIndex
CREATE INDEX "imports_account_id_created_at_id_idx" ON "imports"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "imports_account_id_created_by_idx" ON "imports"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "import_rows_account_id_import_id_status_row_idx" ON "import_rows"("account_id", "import_id", "status", "row");

-- CreateIndex
CREATE INDEX "invoices_account_id_created_at_id_idx" ON "invoices"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "invoices_account_id_contact_id_created_at_id_idx" ON "invoices"("account_id", "contact_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "invoices_account_id_company_id_idx" ON "invoices"("account_id", "company_id");

-- CreateIndex
CREATE INDEX "invoices_account_id_deal_id_idx" ON "invoices"("account_id", "deal_id");

-- CreateIndex
CREATE INDEX "invoices_account_id_created_by_idx" ON "invoices"("account_id", "created_by");

-- CreateIndex
CREATE UNIQUE INDEX "invoices_account_id_invoice_number_key" ON "invoices"("account_id", "invoice_number");

-- CreateIndex
CREATE INDEX "invoice_items_account_id_invoice_id_sort_order_id_idx" ON "invoice_items"("account_id", "invoice_id", "sort_order", "id");

-- CreateIndex
CREATE INDEX "invoice_items_account_id_product_id_idx" ON "invoice_items"("account_id", "product_id");

-- CreateIndex
CREATE INDEX "payments_account_id_invoice_id_recorded_at_id_idx" ON "payments"("account_id", "invoice_id", "recorded_at", "id");

-- CreateIndex
CREATE INDEX "payments_account_id_recorded_by_idx" ON "payments"("account_id", "recorded_by");

-- CreateIndex
CREATE INDEX "idempotency_keys_account_id_expires_at_idx" ON "idempotency_keys"("account_id", "expires_at");

-- CreateIndex
CREATE INDEX "conversations_account_id_last_message_at_contact_id_idx" ON "conversations"("account_id", "last_message_at", "contact_id");

-- CreateIndex
CREATE INDEX "conversations_account_id_last_message_id_idx" ON "conversations"("account_id", "last_message_id");

-- CreateIndex
CREATE INDEX "messages_account_id_created_at_id_idx" ON "messages"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "messages_account_id_contact_id_created_at_id_idx" ON "messages"("account_id", "contact_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "messages_account_id_enrollment_id_step_order_idx" ON "messages"("account_id", "enrollment_id", "step_order");

-- CreateIndex
CREATE INDEX "messages_account_id_template_id_idx" ON "messages"("account_id", "template_id");

-- CreateIndex
CREATE INDEX "messages_account_id_user_id_idx" ON "messages"("account_id", "user_id");

-- CreateIndex
CREATE INDEX "notes_account_id_is_pinned_created_at_id_idx" ON "notes"("account_id", "is_pinned", "created_at", "id");

-- CreateIndex
CREATE INDEX "notes_account_id_contact_id_is_pinned_created_at_id_idx" ON "notes"("account_id", "contact_id", "is_pinned", "created_at", "id");

-- CreateIndex
CREATE INDEX "notes_account_id_deal_id_is_pinned_created_at_id_idx" ON "notes"("account_id", "deal_id", "is_pinned", "created_at", "id");

-- CreateIndex
CREATE INDEX "notes_account_id_created_by_idx" ON "notes"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "outbox_events_account_id_created_at_idx" ON "outbox_events"("account_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_events_account_id_pos_key" ON "outbox_events"("account_id", "pos");

-- CreateIndex
CREATE INDEX "pipelines_account_id_sort_order_id_idx" ON "pipelines"("account_id", "sort_order", "id");

-- CreateIndex
CREATE INDEX "stages_account_id_pipeline_id_sort_order_id_idx" ON "stages"("account_id", "pipeline_id", "sort_order", "id");

-- CreateIndex
CREATE INDEX "products_account_id_created_at_id_idx" ON "products"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "sequences_account_id_created_at_id_idx" ON "sequences"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "sequences_account_id_created_by_idx" ON "sequences"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "sequence_steps_account_id_template_id_idx" ON "sequence_steps"("account_id", "template_id");

-- CreateIndex
CREATE UNIQUE INDEX "sequence_steps_account_id_sequence_id_version_order_key" ON "sequence_steps"("account_id", "sequence_id", "version", "order");

-- CreateIndex
CREATE INDEX "enrollments_account_id_sequence_id_status_created_at_id_idx" ON "enrollments"("account_id", "sequence_id", "status", "created_at", "id");

-- CreateIndex
CREATE INDEX "enrollments_account_id_contact_id_idx" ON "enrollments"("account_id", "contact_id");

-- CreateIndex
CREATE INDEX "enrollments_account_id_enrolled_by_idx" ON "enrollments"("account_id", "enrolled_by");

-- CreateIndex
CREATE INDEX "smart_lists_account_id_created_at_id_idx" ON "smart_lists"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "smart_lists_account_id_created_by_idx" ON "smart_lists"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "contact_tags_account_id_tag_id_contact_id_idx" ON "contact_tags"("account_id", "tag_id", "contact_id");

-- CreateIndex
CREATE INDEX "tasks_account_id_created_at_id_idx" ON "tasks"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "tasks_account_id_updated_at_id_idx" ON "tasks"("account_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "tasks_account_id_contact_id_created_at_id_idx" ON "tasks"("account_id", "contact_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "tasks_account_id_deal_id_created_at_id_idx" ON "tasks"("account_id", "deal_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "tasks_account_id_assigned_to_status_due_date_idx" ON "tasks"("account_id", "assigned_to", "status", "due_date");

-- CreateIndex
CREATE INDEX "tasks_account_id_created_by_idx" ON "tasks"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "templates_account_id_created_at_id_idx" ON "templates"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "vendor_connections_account_id_connected_by_idx" ON "vendor_connections"("account_id", "connected_by");

-- CreateIndex
CREATE INDEX "line_assignments_account_id_user_id_idx" ON "line_assignments"("account_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "line_assignments_account_id_provider_line_id_key" ON "line_assignments"("account_id", "provider", "line_id");

-- CreateIndex
CREATE UNIQUE INDEX "line_assignments_account_id_provider_user_id_key" ON "line_assignments"("account_id", "provider", "user_id");

-- CreateIndex
CREATE INDEX "webhooks_account_id_created_at_id_idx" ON "webhooks"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "webhooks_account_id_created_by_idx" ON "webhooks"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "webhook_deliveries_account_id_webhook_id_created_at_id_idx" ON "webhook_deliveries"("account_id", "webhook_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_account_id_event_id_idx" ON "webhook_deliveries"("account_id", "event_id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_account_id_replay_of_idx" ON "webhook_deliveries"("account_id", "replay_of");

-- CreateIndex
CREATE INDEX "webhook_attempts_account_id_delivery_id_created_at_idx" ON "webhook_attempts"("account_id", "delivery_id", "created_at");

-- CreateIndex
CREATE INDEX "workflows_account_id_created_by_idx" ON "workflows"("account_id", "created_by");

-- CreateIndex
CREATE INDEX "workflow_runs_account_id_workflow_id_started_at_id_idx" ON "workflow_runs"("account_id", "workflow_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "workflow_runs_account_id_contact_id_idx" ON "workflow_runs"("account_id", "contact_id");

-- CreateIndex
CREATE UNIQUE INDEX "workflow_runs_account_id_workflow_id_event_id_key" ON "workflow_runs"("account_id", "workflow_id", "event_id");

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_account_id_invited_by_fkey" FOREIGN KEY ("account_id", "invited_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_account_id_user_id_fkey" FOREIGN KEY ("account_id", "user_id") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "activities" ADD CONSTRAINT "activities_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "activities" ADD CONSTRAINT "activities_account_id_deal_id_fkey" FOREIGN KEY ("account_id", "deal_id") REFERENCES "deals"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "activities" ADD CONSTRAINT "activities_account_id_user_id_fkey" FOREIGN KEY ("account_id", "user_id") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "automations" ADD CONSTRAINT "automations_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "automation_versions" ADD CONSTRAINT "automation_versions_account_id_automation_id_fkey" FOREIGN KEY ("account_id", "automation_id") REFERENCES "automations"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "automation_versions" ADD CONSTRAINT "automation_versions_account_id_published_by_fkey" FOREIGN KEY ("account_id", "published_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "automation_runs" ADD CONSTRAINT "automation_runs_account_id_automation_id_fkey" FOREIGN KEY ("account_id", "automation_id") REFERENCES "automations"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "automation_runs" ADD CONSTRAINT "automation_runs_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "automation_step_logs" ADD CONSTRAINT "automation_step_logs_account_id_automation_id_fkey" FOREIGN KEY ("account_id", "automation_id") REFERENCES "automations"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "automation_step_logs" ADD CONSTRAINT "automation_step_logs_account_id_run_id_fkey" FOREIGN KEY ("account_id", "run_id") REFERENCES "automation_runs"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "appointments" ADD CONSTRAINT "appointments_account_id_calendar_id_fkey" FOREIGN KEY ("account_id", "calendar_id") REFERENCES "calendars"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "appointments" ADD CONSTRAINT "appointments_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "appointments" ADD CONSTRAINT "appointments_account_id_deal_id_fkey" FOREIGN KEY ("account_id", "deal_id") REFERENCES "deals"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "appointments" ADD CONSTRAINT "appointments_account_id_assigned_to_fkey" FOREIGN KEY ("account_id", "assigned_to") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_account_id_user_id_fkey" FOREIGN KEY ("account_id", "user_id") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_account_id_call_flow_id_fkey" FOREIGN KEY ("account_id", "call_flow_id") REFERENCES "call_flows"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "call_flow_versions" ADD CONSTRAINT "call_flow_versions_account_id_call_flow_id_fkey" FOREIGN KEY ("account_id", "call_flow_id") REFERENCES "call_flows"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "call_flow_versions" ADD CONSTRAINT "call_flow_versions_account_id_published_by_fkey" FOREIGN KEY ("account_id", "published_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "call_flow_tombstones" ADD CONSTRAINT "call_flow_tombstones_account_id_call_flow_id_fkey" FOREIGN KEY ("account_id", "call_flow_id") REFERENCES "call_flows"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "companies" ADD CONSTRAINT "companies_account_id_owner_id_fkey" FOREIGN KEY ("account_id", "owner_id") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "companies" ADD CONSTRAINT "companies_account_id_parent_company_id_fkey" FOREIGN KEY ("account_id", "parent_company_id") REFERENCES "companies"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_account_id_company_id_fkey" FOREIGN KEY ("account_id", "company_id") REFERENCES "companies"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_account_id_assigned_to_fkey" FOREIGN KEY ("account_id", "assigned_to") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_account_id_import_id_fkey" FOREIGN KEY ("account_id", "import_id") REFERENCES "imports"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_account_id_merged_into_id_fkey" FOREIGN KEY ("account_id", "merged_into_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deals" ADD CONSTRAINT "deals_account_id_pipeline_id_fkey" FOREIGN KEY ("account_id", "pipeline_id") REFERENCES "pipelines"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deals" ADD CONSTRAINT "deals_account_id_stage_id_fkey" FOREIGN KEY ("account_id", "stage_id") REFERENCES "stages"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deals" ADD CONSTRAINT "deals_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deals" ADD CONSTRAINT "deals_account_id_company_id_fkey" FOREIGN KEY ("account_id", "company_id") REFERENCES "companies"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deals" ADD CONSTRAINT "deals_account_id_assigned_to_fkey" FOREIGN KEY ("account_id", "assigned_to") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deal_products" ADD CONSTRAINT "deal_products_account_id_deal_id_fkey" FOREIGN KEY ("account_id", "deal_id") REFERENCES "deals"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_account_id_form_id_fkey" FOREIGN KEY ("account_id", "form_id") REFERENCES "forms"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "imports" ADD CONSTRAINT "imports_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_rows" ADD CONSTRAINT "import_rows_account_id_import_id_fkey" FOREIGN KEY ("account_id", "import_id") REFERENCES "imports"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_account_id_company_id_fkey" FOREIGN KEY ("account_id", "company_id") REFERENCES "companies"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_account_id_deal_id_fkey" FOREIGN KEY ("account_id", "deal_id") REFERENCES "deals"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invoice_items" ADD CONSTRAINT "invoice_items_account_id_invoice_id_fkey" FOREIGN KEY ("account_id", "invoice_id") REFERENCES "invoices"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invoice_items" ADD CONSTRAINT "invoice_items_account_id_product_id_fkey" FOREIGN KEY ("account_id", "product_id") REFERENCES "products"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_account_id_invoice_id_fkey" FOREIGN KEY ("account_id", "invoice_id") REFERENCES "invoices"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_account_id_recorded_by_fkey" FOREIGN KEY ("account_id", "recorded_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_account_id_last_message_id_fkey" FOREIGN KEY ("account_id", "last_message_id") REFERENCES "messages"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_account_id_user_id_fkey" FOREIGN KEY ("account_id", "user_id") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_account_id_template_id_fkey" FOREIGN KEY ("account_id", "template_id") REFERENCES "templates"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_account_id_enrollment_id_fkey" FOREIGN KEY ("account_id", "enrollment_id") REFERENCES "enrollments"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notes" ADD CONSTRAINT "notes_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notes" ADD CONSTRAINT "notes_account_id_deal_id_fkey" FOREIGN KEY ("account_id", "deal_id") REFERENCES "deals"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notes" ADD CONSTRAINT "notes_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "stages" ADD CONSTRAINT "stages_account_id_pipeline_id_fkey" FOREIGN KEY ("account_id", "pipeline_id") REFERENCES "pipelines"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sequences" ADD CONSTRAINT "sequences_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sequence_steps" ADD CONSTRAINT "sequence_steps_account_id_sequence_id_fkey" FOREIGN KEY ("account_id", "sequence_id") REFERENCES "sequences"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sequence_steps" ADD CONSTRAINT "sequence_steps_account_id_template_id_fkey" FOREIGN KEY ("account_id", "template_id") REFERENCES "templates"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "enrollments" ADD CONSTRAINT "enrollments_account_id_sequence_id_fkey" FOREIGN KEY ("account_id", "sequence_id") REFERENCES "sequences"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "enrollments" ADD CONSTRAINT "enrollments_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "enrollments" ADD CONSTRAINT "enrollments_account_id_enrolled_by_fkey" FOREIGN KEY ("account_id", "enrolled_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "smart_lists" ADD CONSTRAINT "smart_lists_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_tags" ADD CONSTRAINT "contact_tags_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_tags" ADD CONSTRAINT "contact_tags_account_id_tag_id_fkey" FOREIGN KEY ("account_id", "tag_id") REFERENCES "tags"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_account_id_assigned_to_fkey" FOREIGN KEY ("account_id", "assigned_to") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_account_id_deal_id_fkey" FOREIGN KEY ("account_id", "deal_id") REFERENCES "deals"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "vendor_connections" ADD CONSTRAINT "vendor_connections_account_id_connected_by_fkey" FOREIGN KEY ("account_id", "connected_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "line_assignments" ADD CONSTRAINT "line_assignments_account_id_user_id_fkey" FOREIGN KEY ("account_id", "user_id") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_account_id_webhook_id_fkey" FOREIGN KEY ("account_id", "webhook_id") REFERENCES "webhooks"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_account_id_replay_of_fkey" FOREIGN KEY ("account_id", "replay_of") REFERENCES "webhook_deliveries"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_account_id_delivery_id_fkey" FOREIGN KEY ("account_id", "delivery_id") REFERENCES "webhook_deliveries"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflows" ADD CONSTRAINT "workflows_account_id_created_by_fkey" FOREIGN KEY ("account_id", "created_by") REFERENCES "memberships"("account_id", "user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_runs" ADD CONSTRAINT "workflow_runs_account_id_workflow_id_fkey" FOREIGN KEY ("account_id", "workflow_id") REFERENCES "workflows"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_runs" ADD CONSTRAINT "workflow_runs_account_id_contact_id_fkey" FOREIGN KEY ("account_id", "contact_id") REFERENCES "contacts"("account_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;
