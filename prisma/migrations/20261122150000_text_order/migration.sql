-- Text sorts as ICU's root collation has it, ä beside a, without regard to case: lower() keeps the collation of its argument, so
-- each of these indexes has it too. Before, they were sorted by code point.

DROP INDEX contacts_by_first_name, contacts_by_first_name_desc, contacts_by_last_name, contacts_by_last_name_desc, contacts_by_company,
  contacts_by_company_desc, companies_by_name, deals_by_title, tasks_by_title, products_by_name;

CREATE INDEX contacts_by_first_name ON contacts (account_id, lower(first_name COLLATE "und-x-icu"), id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_first_name_desc ON contacts (account_id, lower(first_name COLLATE "und-x-icu") DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_last_name ON contacts (account_id, lower(last_name COLLATE "und-x-icu"), id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_last_name_desc ON contacts (account_id, lower(last_name COLLATE "und-x-icu") DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_company ON contacts (account_id, lower(company COLLATE "und-x-icu"), id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_company_desc ON contacts (account_id, lower(company COLLATE "und-x-icu") DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX companies_by_name ON companies (account_id, lower(name COLLATE "und-x-icu"), id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_title ON deals (account_id, lower(title COLLATE "und-x-icu"), id) WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_title ON tasks (account_id, lower(title COLLATE "und-x-icu"), id) WHERE account_id IS NOT NULL;
CREATE INDEX products_by_name ON products (account_id, lower(name COLLATE "und-x-icu"), id) WHERE archived_at IS NULL;
