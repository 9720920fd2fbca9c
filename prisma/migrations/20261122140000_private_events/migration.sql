-- The one person who may see an event; empty for everybody whose rights cover it. A smart list of one's own is such a record.
ALTER TABLE "outbox_events" ADD COLUMN "only_for" UUID;

-- Few events have it: they are counted to know how many of an account's a caller cannot see.
CREATE INDEX outbox_events_only_for ON outbox_events (account_id, only_for) WHERE only_for IS NOT NULL;
