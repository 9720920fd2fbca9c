-- Imports that are being processed are looked for over all accounts.
CREATE INDEX imports_under_way ON imports (account_id) WHERE status = 'processing';
