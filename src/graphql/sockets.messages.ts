import { MessageType } from 'graphql-ws';

/** The types of the messages that a client never sends. */
const ofServers: ReadonlySet<unknown> = new Set([MessageType.ConnectionAck, MessageType.Next, MessageType.Error]);

/** Whether a text is a message of graphql-transport-ws that only servers send. */
export function isOfServers(text: string): boolean {
  try {
    return ofServers.has((JSON.parse(text) as { type?: unknown } | null)?.type);
  } catch {
    return false;
  }
}
