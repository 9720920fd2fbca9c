import type { GraphQLSchema } from 'graphql';
import type { MountedRow } from './table.js';
export function openApiDocument(_schema: GraphQLSchema, _rows: readonly MountedRow[], _basePath: string): Record<string, unknown> {
  return {};
}
