-- Who says STOP may have been deleted: whoever restores them must know it.
CREATE INDEX contacts_deleted_by_phone ON contacts (account_id, phone) WHERE deleted_at IS NOT NULL AND merged_into_id IS NULL;
