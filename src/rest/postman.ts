import type { Schema } from './openapi.schemas.js';
import { Examples } from './postman.examples.js';

/** What is read of an OpenAPI document. */
interface Document {
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

interface Operation {
  summary: string;
  description: string;
  tags: string[];
  deprecated?: boolean;
  parameters?: Parameter[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  security: Record<string, unknown>[];
}

interface Parameter {
  $ref?: string;
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  description?: string;
  schema?: Schema;
}

/** What a collection calls until it is told otherwise: a server that was started without settings. */
export const localBase = 'http://127.0.0.1:4000/api/v1';

const format = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const about = `Made from the OpenAPI document of the same server. Set the variables of the collection: baseUrl, and apiKey to a key (svc_…).
Parameters that may be left out are there, switched off. What is only for sessions uses the cookie that "Logs in" sets.`;

/**
 * The OpenAPI document as a collection of Postman (format v2.1), which Insomnia, Bruno and Hoppscotch read, too: a folder a tag, the
 * address and the key as variables, an example body for each write. It says nothing that the document does not.
 */
export function postmanCollection(openapi: Record<string, unknown>, baseUrl: string): Record<string, unknown> {
  const document = openapi as Partial<Document> as Document;
  const examples = new Examples(document.components.schemas);
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );
  const item = document.tags.map(({ name, description }) => ({
    name,
    description,
    item: all
      // What is gone answers 410 and nothing else.
      .filter(({ operation }) => operation.tags.includes(name) && !operation.deprecated)
      .map(({ path, method, operation }) => itemOf(path, method, operation, { document, examples })),
  }));
  const ids = [...examples.ids].sort().map((key) => ({ key, value: '', type: 'string' }));
  return {
    info: { name: document.info.title, description: `${document.info.description}\n\n${about}`, schema: format },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [{ key: 'baseUrl', value: baseUrl, type: 'string' }, { key: 'apiKey', value: '', type: 'string' }, ...ids],
    item: item.filter((folder) => folder.item.length > 0),
  };
}

interface Around {
  document: Document;
  examples: Examples;
}

function itemOf(path: string, method: string, operation: Operation, { document, examples }: Around) {
  const parameters = (operation.parameters ?? []).map((one) => (one.$ref ? document.components.parameters[nameIn(one.$ref)]! : one));
  const schema = operation.requestBody?.content['application/json'].schema;
  const takesKey = operation.security.some((scheme) => 'apiKey' in scheme);
  const raw = schema && JSON.stringify(examples.of(schema), null, 2);
  return {
    name: operation.summary,
    request: {
      method: method.toUpperCase(),
      description: `${method.toUpperCase()} ${path}\n\n${operation.description}`,
      ...(!takesKey && { auth: { type: 'noauth' } }),
      header: [...(raw ? [{ key: 'Content-Type', value: 'application/json' }] : []), ...headersOf(parameters)],
      url: urlOf(path, parameters),
      ...(raw && { body: { mode: 'raw', raw, options: { raw: { language: 'json' } } } }),
    },
    response: [],
  };
}

const nameIn = (reference: string) => reference.split('/').at(-1)!;
const given = (schema: Schema = {}) => String(schema.default ?? (schema.enum as string[] | undefined)?.[0] ?? '');

/** The headers that may be sent. A new key for each sending: who repeats a write by hand switches it on and pins it. */
const headersOf = (parameters: Parameter[]) =>
  parameters
    .filter((one) => one.in === 'header')
    .map(({ name, description }) => ({
      key: name,
      value: name === 'Idempotency-Key' ? '{{$guid}}' : '',
      description,
      disabled: true,
    }));

function urlOf(path: string, parameters: Parameter[]) {
  const segments = path.slice(1).replace(/\{(\w+)\}/g, ':$1');
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, description, schema, required }) => ({ key: name, value: given(schema), description, disabled: !required }));
  const variable = parameters.filter((one) => one.in === 'path').map(({ name, description }) => ({ key: name, value: '', description }));
  const on = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  return {
    raw: `{{baseUrl}}/${segments}${on.length > 0 ? `?${on.join('&')}` : ''}`,
    host: ['{{baseUrl}}'],
    path: segments.split('/'),
    ...(query.length > 0 && { query }),
    ...(variable.length > 0 && { variable }),
  };
}
