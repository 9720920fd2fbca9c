-- What had happened and had no place in the feed yet when something began to look for events: it comes behind the end of the feed as it was
-- then, and is nevertheless from before.
ALTER TABLE "workflows" ADD COLUMN "activated_unplaced" UUID[] NOT NULL DEFAULT '{}';
ALTER TABLE "automations" ADD COLUMN "live_unplaced" UUID[] NOT NULL DEFAULT '{}';
ALTER TABLE "automation_runs" ADD COLUMN "waiting_unplaced" UUID[] NOT NULL DEFAULT '{}';
ALTER TABLE "webhooks" ADD COLUMN "active_unplaced" UUID[] NOT NULL DEFAULT '{}';
