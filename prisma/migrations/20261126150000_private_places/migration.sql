-- Events that others alone may see are taken off the total of a feed: counted by their places, without the events.
CREATE INDEX feed_positions_only_for ON feed_positions (account_id, pos) INCLUDE (name, only_for) WHERE only_for IS NOT NULL;
DROP INDEX outbox_events_only_for;
