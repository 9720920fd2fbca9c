-- The inbox, latest first: conversations in which nothing was said yet come last.
CREATE INDEX conversations_by_last_message_desc ON conversations (account_id, last_message_at DESC NULLS LAST, contact_id DESC) WHERE NOT hidden;
