import type { Running } from './process.js';

/** Where the schema differs between versions of the server, as far as the documents of the bench tell. */
export interface Shape {
  /** Whether nested lists are connections. */
  hasNestedConnections: boolean;
}

const document = '{ __type(name: "Stage") { fields { name type { name ofType { name kind } } } } }';

interface Answer {
  data: { __type: { fields: { name: string; type: { ofType: { name: string | null; kind: string } | null } }[] } };
}

/** Asks a server for what its schema has. */
export async function shapeOf(server: Running, key: string): Promise<Shape> {
  const answer = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: document }),
  });
  const { data } = (await answer.json()) as Answer;
  const deals = data.__type.fields.find(({ name }) => name === 'deals');
  return { hasNestedConnections: deals?.type.ofType?.name === 'DealConnection' };
}
