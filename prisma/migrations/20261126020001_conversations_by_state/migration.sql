-- Whose turn it is in a conversation is told by the index of their order. All these columns stand in an index already, so that no update
-- writes more entries than before. Closed ones, which may be few among many, have an index of their own.
DROP INDEX conversations_by_last_message_desc;
CREATE INDEX conversations_by_last_message_desc ON conversations (account_id, last_message_at DESC NULLS LAST, contact_id DESC)
  INCLUDE (closed_at, last_inbound_at, last_outbound_at) WHERE NOT hidden;
CREATE INDEX conversations_closed ON conversations (account_id, last_message_at DESC NULLS LAST, contact_id DESC)
  WHERE closed_at IS NOT NULL AND NOT hidden;
