-- The summary of deals names the currency of each stage's sum: its index tells that, too.
DROP INDEX deals_in_figures;
CREATE INDEX deals_in_figures ON deals (account_id, pipeline_id, stage_id, status) INCLUDE (value, probability, currency) WHERE deleted_at IS NULL;
