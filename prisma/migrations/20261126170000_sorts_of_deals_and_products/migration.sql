-- Deals by the day on which they are to close and by their probability, products by their price: both ways, since what has none comes last
-- in both.
CREATE INDEX deals_by_expected_close_date ON deals (account_id, expected_close_date, id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_expected_close_date_desc ON deals (account_id, expected_close_date DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_probability ON deals (account_id, probability, id) WHERE deleted_at IS NULL;
CREATE INDEX deals_by_probability_desc ON deals (account_id, probability DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX products_by_price ON products (account_id, price, id) WHERE archived_at IS NULL;
CREATE INDEX products_by_price_desc ON products (account_id, price DESC NULLS LAST, id DESC) WHERE archived_at IS NULL;
