-- A call whose end is reported again is found by its id alone, too: it is in the log by then, and its number may be another workspace's.
CREATE INDEX calls_by_provider_id ON calls (provider_id) WHERE provider_id IS NOT NULL;
