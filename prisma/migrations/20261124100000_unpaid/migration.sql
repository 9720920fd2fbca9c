-- A subscription that nobody tries to have paid any more keeps its plan and its id, and lets nothing new be made.
ALTER TABLE accounts DROP CONSTRAINT accounts_billing_status_check;
ALTER TABLE accounts ADD CONSTRAINT accounts_billing_status_check
  CHECK (billing_status IN ('trialing', 'active', 'past_due', 'unpaid', 'cancelled'));

-- When the subscription that is kept began: an older one, which is paid too, never takes its place.
ALTER TABLE "accounts" ADD COLUMN "subscription_started_at" TIMESTAMPTZ(3);
