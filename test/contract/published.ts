import { expect } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { contract } from '../../src/app.js';
import { withClosedAnswers } from '../support/closed.js';
import type { Reply } from '../support/index.js';

/** The contract as the code publishes it: its endpoints, its schema and its OpenAPI document. */
export const published = contract();

export interface Response {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: object }>;
}
export interface Operation {
  operationId: string;
  summary: string;
  parameters?: { $ref?: string; name?: string; in?: string }[];
  requestBody?: object;
  responses: Record<string, Response>;
  security: object[];
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response>; schemas: Record<string, object> };
}

export const document = published.openapi as unknown as Document;

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
(ajvFormats as unknown as (target: Ajv2020) => void)(ajv);
ajv.addSchema(withClosedAnswers(document), 'openapi');

const escaped = (part: string) => encodeURIComponent(part.replace(/~/g, '~0').replace(/\//g, '~1'));
const validators = new Map<string, ValidateFunction>();

function validatorAt(...parts: string[]): ValidateFunction {
  const pointer = `openapi#/${parts.map(escaped).join('/')}`;
  const known = validators.get(pointer) ?? ajv.compile({ $ref: pointer });
  validators.set(pointer, known);
  return known;
}

export const operationAt = (address: string): Operation => {
  const [method, path] = address.split(' ') as [string, string];
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`The OpenAPI document has no ${address}`);
  return operation;
};

/** A response with its own place in the document, shared ones followed. */
function responseAt(address: string, status: number): { response: Response; at: string[] } {
  const [method, path] = address.split(' ') as [string, string];
  const response = operationAt(address).responses[status];
  if (!response) throw new Error(`The OpenAPI document names no ${status} for ${address}`);
  const shared = response.$ref?.split('/').at(-1);
  return shared
    ? { response: document.components.responses[shared]!, at: ['components', 'responses', shared] }
    : { response, at: ['paths', path, method.toLowerCase(), 'responses', String(status)] };
}

const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/** Fails unless the reply is what the OpenAPI document says of this endpoint and status: headers, media type and body. */
export function expectPublished(address: string, reply: Reply): void {
  const { response, at } = responseAt(address, reply.status);
  const missing = Object.keys(response.headers ?? {}).filter((name) => /^X-R/.test(name) && !(name.toLowerCase() in reply.headers));
  expect({ address, missing }).toEqual({ address, missing: [] });
  for (const name of rateHeaders) expect(reply.headers[name]).toMatch(/^\d+$/);
  const type = reply.headers['content-type']?.split(';')[0] ?? '';
  expect(Object.keys(response.content ?? {})).toContain(type);
  const body = type === 'application/json' ? JSON.parse(reply.text) : reply.text;
  const validate = validatorAt(...at, 'content', type, 'schema');
  if (!validate(body))
    throw new Error(`${address} → ${reply.text.slice(0, 1500)}\n${ajv.errorsText(validate.errors, { separator: '\n' })}`);
}

/** Whether a value satisfies a component schema; what is wrong, if anything. */
export function faultsOf(component: string, value: unknown): string | undefined {
  const validate = validatorAt('components', 'schemas', component);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

/** What is wrong with an answer's body, by the document; undefined where nothing is. */
export function answerFaultsOf(address: string, status: number, body: unknown): string | undefined {
  const validate = validatorAt(...responseAt(address, status).at, 'content', 'application/json', 'schema');
  return validate(body) ? undefined : ajv.errorsText(validate.errors);
}

/** What is wrong with the body of a request, by the document; undefined where nothing is. */
export function bodyFaultsOf(address: string, body: unknown): string | undefined {
  const [method, path] = address.split(' ') as [string, string];
  const validate = validatorAt('paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema');
  return validate(body) ? undefined : ajv.errorsText(validate.errors);
}
