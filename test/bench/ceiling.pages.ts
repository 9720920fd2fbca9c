import type { FastifyReply } from 'fastify';

export const fail = (reply: FastifyReply, status: number, error: string) => reply.status(status).send({ error });

export const sendJson = (reply: FastifyReply, text: string) => reply.header('content-type', 'application/json; charset=utf-8').send(text);

export const isUuid = (text: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

export interface PageQuery {
  page?: string;
  per_page?: string;
}

/** Which page is asked for; undefined where it cannot be one. */
export function pageOf(asked: PageQuery): { page: number; size: number } | undefined {
  const page = Number(asked.page ?? 1);
  const size = Math.min(Number(asked.per_page ?? 50), 200);
  return page >= 1 && size >= 1 ? { page, size } : undefined;
}

/** A page as PostgreSQL answers it: its records, the total, and the place of its last row. */
export interface PageRow {
  json: string;
  total: string;
  last: string | null;
}

export function pageJson({ json, total, last }: PageRow, { page, size }: { page: number; size: number }): string {
  const pages = Math.ceil(Number(total) / size);
  // spaces are how PostgreSQL prints an array
  const cursor = page < pages && last ? `"${Buffer.from(JSON.stringify(JSON.parse(last))).toString('base64url')}"` : 'null';
  const meta = `{"page":${page},"per_page":${size},"total":${total},"totalPages":${pages},"next_cursor":${cursor}}`;
  return `{"data":{"data":${json},"meta":${meta}}}`;
}

export const nullableText = (maxLength: number) => ({ type: ['string', 'null'], maxLength });
