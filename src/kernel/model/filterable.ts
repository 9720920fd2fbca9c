/** A field that a filter may name: its column over the alias `t`, and what its values are. */
export type FilterField = readonly [column: string, type: 'text' | 'uuid' | 'integer' | 'numeric' | 'timestamptz' | 'boolean'];

/** Records that a filter can be kept for. */
export interface Filterable {
  table: string;
  fields: Record<string, FilterField>;
  /** The sort keys of their list. */
  sorts: readonly string[];
}
