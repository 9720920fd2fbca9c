-- Hand-written: what Prisma's schema language cannot say, for products and invoices. Every index is partial, so that Prisma's
-- diff leaves it alone.

CREATE INDEX products_search ON products USING gin (account_id,
  (' ' || lower(name COLLATE "und-x-icu") || ' ' || lower(coalesce(sku, '') COLLATE "und-x-icu")) gin_trgm_ops) WHERE account_id IS NOT NULL;
CREATE INDEX products_by_created_at ON products (account_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX products_by_updated_at ON products (account_id, updated_at, id) WHERE archived_at IS NULL;
CREATE INDEX products_by_name ON products (account_id, (lower(name COLLATE "und-x-icu") COLLATE "C"), id) WHERE archived_at IS NULL;

CREATE INDEX invoices_by_updated_at ON invoices (account_id, updated_at, id) WHERE account_id IS NOT NULL;
CREATE INDEX invoices_by_due_date ON invoices (account_id, due_date, id) WHERE account_id IS NOT NULL;
CREATE INDEX invoices_by_total ON invoices (account_id, total, id) WHERE account_id IS NOT NULL;
