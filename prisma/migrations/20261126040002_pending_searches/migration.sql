-- What is written waits in a list until a search index takes it in as a whole, and every search of anybody reads that list from its
-- beginning to its end: 4 MB by default. Less of it is read by each search, and taken in at once, by the request that happens to fill it.
ALTER INDEX contacts_search SET (gin_pending_list_limit = 512);
ALTER INDEX contacts_custom_fields SET (gin_pending_list_limit = 512);
ALTER INDEX companies_search SET (gin_pending_list_limit = 512);
ALTER INDEX deals_search SET (gin_pending_list_limit = 512);
ALTER INDEX invoices_search SET (gin_pending_list_limit = 512);
ALTER INDEX products_search SET (gin_pending_list_limit = 512);
ALTER INDEX tasks_search SET (gin_pending_list_limit = 512);
