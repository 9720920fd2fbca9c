-- What an event says besides what happened: the change that it is a fact of, who did it, and what the client called it.
ALTER TABLE "outbox_events"
  ADD COLUMN "change_id" UUID,
  ADD COLUMN "names" TEXT[],
  ADD COLUMN "actor_kind" TEXT,
  ADD COLUMN "client_mutation_id" TEXT,
  ADD COLUMN "batch_id" UUID;
