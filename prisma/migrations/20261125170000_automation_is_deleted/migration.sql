-- Asked by the statement that takes a run: an automation that was deleted since that statement began is seen, too. So it is volatile.
CREATE FUNCTION automation_is_deleted(account uuid, automation uuid) RETURNS boolean LANGUAGE sql VOLATILE AS
'SELECT EXISTS (SELECT FROM automations a WHERE a.account_id = account AND a.id = automation AND a.deleted_at IS NOT NULL)';
