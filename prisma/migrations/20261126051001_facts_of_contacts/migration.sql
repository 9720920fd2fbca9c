-- What contacts say of the numbers and addresses that they have, those that were merged among them: an opt-out of theirs is the address's.
INSERT INTO address_facts (account_id, kind, address, holds, created_at)
SELECT k.account_id, k.kind, k.address, true, max(k.at) FROM (
  SELECT account_id, 'opted_out_sms' AS kind, phone AS address, updated_at AS at FROM contacts WHERE opted_out_sms
  UNION ALL SELECT account_id, 'opted_out_email', email_lower, updated_at FROM contacts WHERE opted_out_email
  UNION ALL SELECT account_id, 'landline', landline, updated_at FROM contacts) k
WHERE k.address IS NOT NULL GROUP BY 1, 2, 3;
