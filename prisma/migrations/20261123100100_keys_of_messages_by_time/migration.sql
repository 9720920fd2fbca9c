-- The keys of text messages are kept for 30 days.
CREATE INDEX messages_keyed_by_time ON messages (created_at) WHERE idempotency_key IS NOT NULL;
