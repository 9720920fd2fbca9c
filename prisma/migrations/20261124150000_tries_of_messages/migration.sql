-- A client's retry under its key used up an attempt of the server's own plan. A mail or text message that waits begins its plan anew:
-- it ends after two days at the latest.
ALTER TABLE "messages" ADD COLUMN     "tries" INTEGER NOT NULL DEFAULT 0;
