-- When the mail that leads to a token went: until then the queue tries to send it.
ALTER TABLE "tokens" ADD COLUMN "mailed_at" TIMESTAMPTZ(3);
