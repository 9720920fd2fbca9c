/** What is told of the records of one type: `deal.created`, `deal.won` … */
export interface RecordEvents<Name extends string = string> {
  /** The GraphQL type of the records: "Deal". */
  readonly type: string;
  /** What the name of each event begins with: "deal". */
  readonly noun: string;
  readonly names: readonly Name[];
}

/** Each module adds what its records tell, by declaration merging: so a name that nobody declares does not compile. */
// biome-ignore lint/suspicious/noEmptyInterface: modules merge their events into it
export interface Events {}

/** The name of an event of the system: "deal.won". */
export type EventName = Events[keyof Events] extends RecordEvents<infer Name> ? Name : never;

/** What happens to every record. */
export const everyChange = ['created', 'updated', 'deleted'] as const;

/** Declares what is told of a record type: `eventsOf('deal', 'Deal', [...everyChange, 'won'])`. */
export const eventsOf = <const Noun extends string, const Event extends string>(
  noun: Noun,
  type: string,
  events: readonly Event[],
): RecordEvents<`${Noun}.${Event}`> => ({ type, noun, names: events.map((event): `${Noun}.${Event}` => `${noun}.${event}`) });

/** The kind of an event, which is its name as GraphQL can write it: "deal.won" → "deal_won". */
export const eventKindOf = (name: string): string => name.replace('.', '_');

/** The name of a record type as a GraphQL field: "custom_field" → "customField". */
export const fieldOf = ({ noun }: RecordEvents): string => noun.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
