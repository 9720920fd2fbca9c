-- Moves the pointer of a group to a turn, where it is at the turn before; whether it did. A call that has read whose turn it is
-- takes it with the write that keeps the call, and is asked again where another call was there first.
CREATE FUNCTION take_turn(account uuid, flow uuid, node text, turn integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO call_flow_pointers AS p (account_id, call_flow_id, node_id, position) VALUES (account, flow, node, turn)
  ON CONFLICT (account_id, call_flow_id, node_id) DO UPDATE SET position = excluded.position
  WHERE (p.position + 1) % 1000000000 = excluded.position;
  RETURN FOUND;
END
$$;
