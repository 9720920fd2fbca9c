ALTER TABLE "contacts" ADD COLUMN "landline" TEXT;

-- A vendor tells of a message more than once: it is one message.
CREATE UNIQUE INDEX messages_received_once ON messages (account_id, provider, provider_id) WHERE direction = 'inbound' AND provider_id IS NOT NULL;
