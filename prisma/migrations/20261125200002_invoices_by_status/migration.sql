-- Invoices of a status, late ones among them, are counted without the rows, and read in the order of the list.
CREATE INDEX invoices_by_status ON invoices (account_id, status, created_at, id) INCLUDE (due_date, total, amount_paid)
  WHERE account_id IS NOT NULL;

-- Which deals have something to come is told by the index of open tasks alone.
DROP INDEX tasks_open;
CREATE INDEX tasks_open ON tasks (account_id, due_date, id) INCLUDE (contact_id, deal_id) WHERE status <> 'done';
