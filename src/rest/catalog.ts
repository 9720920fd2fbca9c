import type { FastifyInstance } from 'fastify';
import type { MountedRow } from './table.js';
export function mountCatalog(_server: FastifyInstance, _rows: readonly MountedRow[], _openapi: object): void {}
