-- The figures of pipelines and of the dashboard come from the index alone.
CREATE INDEX deals_in_figures ON deals (account_id, pipeline_id, stage_id, status) INCLUDE (value, probability) WHERE deleted_at IS NULL;

-- Who waits for an answer, the longest first.
CREATE INDEX conversations_awaiting ON conversations (account_id, last_inbound_at, contact_id)
  WHERE closed_at IS NULL AND last_inbound_at IS NOT NULL AND (last_outbound_at IS NULL OR last_inbound_at > last_outbound_at);

-- What went out on a day.
CREATE INDEX messages_by_sent_at ON messages (account_id, sent_at) WHERE sent_at IS NOT NULL;
