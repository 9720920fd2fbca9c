-- Taking passes over what was settled before. An index scan notes which of its entries are dead, so that the next one leaves them out;
-- a bitmap scan reads them anew each time.
ALTER FUNCTION take_deliveries(TIMESTAMPTZ, INT, INT, INT, INT) SET enable_bitmapscan = off;
