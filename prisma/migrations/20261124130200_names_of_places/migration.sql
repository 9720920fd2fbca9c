-- The names of the places that were given before these had any. By itself: the columns were added while nobody else got at the table, and
-- here only the rows that change are locked.
UPDATE feed_positions p SET name = e.name, only_for = e.only_for FROM outbox_events e
WHERE e.account_id = p.account_id AND e.seq = p.seq AND p.name = '';
