-- Who unsubscribes may have been deleted: whoever restores them must know it.
CREATE INDEX contacts_deleted_by_email ON contacts (account_id, email_lower) WHERE deleted_at IS NOT NULL AND merged_into_id IS NULL;
