-- How many tasks have a priority or a status, and which of them a list shows, is told by the indexes of their order, since these name what
-- they are ordered by, too. They hold all tasks: of part of them nothing is known of how often each place is taken.
DROP INDEX tasks_by_priority;
CREATE INDEX tasks_by_priority ON tasks (account_id, array_position(array['low', 'medium', 'high', 'urgent'], priority), id)
  INCLUDE (priority, status, created_at);
DROP INDEX tasks_by_status;
CREATE INDEX tasks_by_status ON tasks (account_id, array_position(array['todo', 'in_progress', 'done'], status), id)
  INCLUDE (status, created_at);
