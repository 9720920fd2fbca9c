/**
 * The tables that triggers write to, so that they say something of others: each with the tables whose triggers do, null for many. What
 * waits to be written there shows in them too. A test compares it with the triggers of the database.
 */
export const keptByTriggers: Readonly<Record<string, readonly string[] | null>> = {
  counts: null,
  contacts: ['contact_tags'],
  conversations: ['contacts', 'messages'],
};

const kept = Object.entries(keptByTriggers);

/** Whether rows of a table may show in what a text reads: it names the table, a function that is called by it, or what triggers keep. */
export const showsIn = (table: string, text: string): boolean =>
  text.includes(table) || kept.some(([other, by]) => (by === null || by.includes(table)) && text.includes(other));
