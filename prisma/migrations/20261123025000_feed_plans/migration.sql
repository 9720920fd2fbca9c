-- A session keeps the plan of its first call. Made while the tables were known to be empty, it read them from end to end: each step
-- of a burst of events then cost their square. Indexes serve both functions whatever the tables hold.
ALTER FUNCTION place_events(INTEGER) SET enable_seqscan = off;
ALTER FUNCTION take_deliveries(TIMESTAMPTZ, INT, INT, INT, INT) SET enable_seqscan = off;
