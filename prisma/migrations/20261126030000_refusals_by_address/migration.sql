-- Who must not be written to, by number and by address: an opt-out holds for them whichever contact has them. Few are in these.
CREATE INDEX contacts_not_texted ON contacts (account_id, phone)
  WHERE merged_into_id IS NULL AND (opted_out_sms OR do_not_contact OR landline IS NOT NULL);
CREATE INDEX contacts_not_mailed ON contacts (account_id, email_lower) WHERE merged_into_id IS NULL AND opted_out_email;
