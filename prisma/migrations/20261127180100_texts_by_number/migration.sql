-- Who wrote to somebody from a number: it may be the server's own, which all workspaces share, or have been given back since.
CREATE INDEX messages_by_numbers ON messages (from_number, to_number, account_id) WHERE channel = 'sms' AND direction = 'outbound';
