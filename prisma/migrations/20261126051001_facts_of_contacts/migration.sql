-- What contacts say of the numbers and addresses that they have: an opt-out of theirs is the address's. Those that were merged among them,
-- but where somebody has the address now who has not opted out: the opt-out may have been taken back since the merge.
INSERT INTO address_facts (account_id, kind, address, holds, created_at)
SELECT k.account_id, k.kind, k.address, true, max(k.at) FROM (
  SELECT c.account_id, 'opted_out_sms' AS kind, c.phone AS address, c.updated_at AS at FROM contacts c
  WHERE c.opted_out_sms AND (c.merged_into_id IS NULL OR NOT EXISTS (SELECT FROM contacts o
    WHERE o.account_id = c.account_id AND o.phone = c.phone AND o.deleted_at IS NULL AND NOT o.opted_out_sms))
  UNION ALL
  SELECT c.account_id, 'opted_out_email', c.email_lower, c.updated_at FROM contacts c
  WHERE c.opted_out_email AND (c.merged_into_id IS NULL OR NOT EXISTS (SELECT FROM contacts o
    WHERE o.account_id = c.account_id AND o.email_lower = c.email_lower AND o.deleted_at IS NULL AND NOT o.opted_out_email))
  UNION ALL
  SELECT c.account_id, 'landline', c.landline, c.updated_at FROM contacts c) k
WHERE k.address IS NOT NULL GROUP BY 1, 2, 3;
