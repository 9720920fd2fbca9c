-- Who cannot be reached is counted from an index of its own, which nobody else is in: the condition is that of the filter.
CREATE INDEX contacts_unreachable ON contacts (account_id, created_at, id) WHERE deleted_at IS NULL
  AND NOT (NOT coalesce(do_not_contact, false) AND ((phone IS NOT NULL AND NOT opted_out_sms) OR (email IS NOT NULL AND NOT opted_out_email)));

-- Most contacts came by no import and were merged into nobody: they need not stand in the indexes of these.
DROP INDEX contacts_account_id_import_id_idx;
CREATE INDEX contacts_by_import ON contacts (account_id, import_id) WHERE import_id IS NOT NULL;
DROP INDEX contacts_account_id_merged_into_id_idx;
CREATE INDEX contacts_by_merged_into ON contacts (account_id, merged_into_id) WHERE merged_into_id IS NOT NULL;
