-- A merge finds the rows of imports that made its contacts.
create index import_rows_of_contacts on import_rows (account_id, contact_id) where contact_id is not null;
