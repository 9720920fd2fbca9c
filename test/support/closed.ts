import type { Loose } from './client.js';

const each = (schemas: Loose, change: (schema: Loose) => Loose) =>
  Object.fromEntries(Object.entries<Loose>(schemas).map(([name, schema]) => [name, change(schema)]));

/**
 * A schema of which no object takes a member that it does not name, so that an answer with one more is seen: what is published forbids
 * none, for clients of before a release that adds one. One of several schemas of the same object (`allOf`) knows only its part.
 */
export function closed(schema: Loose, isPart = false): Loose {
  const { properties, items, anyOf, allOf, additionalProperties: more } = schema;
  return {
    ...schema,
    ...(properties && { properties: each(properties, (member) => closed(member)) }),
    ...(properties && more === undefined && !isPart && { additionalProperties: false }),
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map((one: Loose) => closed(one)) }),
    ...(allOf && { allOf: allOf.map((one: Loose) => closed(one, true)) }),
    ...(typeof more === 'object' && { additionalProperties: closed(more) }),
  };
}

/** Their answers are documents, of which only some members are told. */
const documents = ['/openapi.json', '/postman.json'];

/** An OpenAPI document with its answers closed. Bodies of requests stay open: the server leaves out what it does not know. */
export function withClosedAnswers(document: object): Loose {
  const whole: Loose = structuredClone(document);
  const { responses, schemas } = whole.components;
  const operations = Object.entries<Loose>(whole.paths).flatMap(([path, own]) =>
    documents.includes(path) ? [] : Object.values<Loose>(own),
  );
  const answers = [responses, ...operations.map((operation) => operation.responses)].flatMap((own) => Object.values<Loose>(own));
  for (const { content = {} } of answers) for (const media of Object.values<Loose>(content)) media.schema = closed(media.schema);
  const reached = new Set<string>();
  const follow = (value: unknown) => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (reached.has(name!)) continue;
      reached.add(name!);
      follow(schemas[name!]);
    }
  };
  follow(answers);
  // Some errors tell more than every error does.
  for (const name of reached) schemas[name] = closed(schemas[name], name === 'Error');
  return whole;
}
