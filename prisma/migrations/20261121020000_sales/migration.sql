-- A deleted stage stays for the deals that were deleted in it.

ALTER TABLE stages ADD COLUMN deleted_at TIMESTAMPTZ(3);
ALTER TABLE stages ADD CONSTRAINT stages_closing_check CHECK (NOT (is_won AND is_lost));

-- The id of a deal's product line may come from the caller: it is unique within its deal.

ALTER TABLE deal_products DROP CONSTRAINT deal_products_pkey, ADD CONSTRAINT deal_products_pkey PRIMARY KEY (account_id, deal_id, id);
