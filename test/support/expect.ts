import { expect } from '@jest/globals';
import type { GraphQLReply, Reply } from './client.js';

const codes: Record<number, RegExp> = {
  400: /^(invalid_request|transport_conflict)$/,
  401: /^unauthenticated$/,
  402: /^payment_required$/,
  403: /^permission_denied$/,
  404: /_?not_found$/,
  410: /^gone$/,
  413: /^payload_too_large$/,
  422: /\w/,
  428: /^precondition_required$/,
  429: /^rate_limited$/,
};

/** The contract's flat error body with this status, its code, and the field to blame named in message and details. */
export function expectRefusal(reply: Reply, status: number, field?: string): void {
  const told = `${reply.status} ${reply.text}`;
  expect(told).toMatch(new RegExp(`^${status} `));
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  const { error, code, requestId, details } = reply.body;
  expect(typeof error).toBe('string');
  expect(code).toMatch(codes[status] ?? /\w/);
  expect(requestId).toBe(reply.headers['x-request-id']);
  if (field === undefined) return;
  expect(told).toContain(field);
  expect(details.map((d: { field: string }) => d.field)).toContain(field);
}

/** The same through the other API: no data, and an error with this status and field. */
export function expectGraphQLRefusal(reply: GraphQLReply, status: number, field?: string): void {
  const told = JSON.stringify({ data: reply.data, errors: reply.errors });
  expect({ told, statuses: reply.errors?.map((e) => e.extensions?.status) }).toMatchObject({ statuses: expect.arrayContaining([status]) });
  const error = reply.errors!.find((e) => e.extensions.status === status);
  expect(error.extensions.code).toMatch(codes[status] ?? /\w/);
  if (field === undefined) return;
  expect(error.message).toContain(field);
  expect(error.extensions.field ?? error.extensions.details?.[0]?.field).toBe(field);
}
