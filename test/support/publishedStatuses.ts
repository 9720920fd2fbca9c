import { readFileSync } from 'node:fs';

type Document = { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> };

interface Endpoint {
  segments: string[];
  statuses: ReadonlySet<string>;
}

let known: Map<string, Endpoint[]> | undefined;

const addressOf = (method: string, segments: readonly string[]) => `${method.toLowerCase()} ${segments.length}`;

/** The endpoints of the published document, by their method and the length of their path; those without a parameter first. */
function endpoints(): Map<string, Endpoint[]> {
  const { paths } = JSON.parse(readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8')) as Document;
  const found = new Map<string, Endpoint[]>();
  for (const [path, methods] of Object.entries(paths).sort(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{'))))
    for (const [method, { responses }] of Object.entries(methods)) {
      const segments = path.split('/');
      const address = addressOf(method, segments);
      found.set(address, [...(found.get(address) ?? []), { segments, statuses: new Set(Object.keys(responses)) }]);
    }
  return found;
}

/** What is answered before a request is read, whatever endpoint it is for: an address or headers that are too large. */
const beforeEndpoints = 431;

/** Whether the published document names a status for the endpoint that a request leads to; true where it leads to none. */
export function isPublishedStatus(method: string, path: string, status: number): boolean {
  if (status === beforeEndpoints) return true;
  known ??= endpoints();
  const segments = path.split('?')[0]!.split('/');
  const endpoint = known
    .get(addressOf(method, segments))
    ?.find((one) => one.segments.every((segment, n) => segment.startsWith('{') || segment === segments[n]));
  return endpoint === undefined || endpoint.statuses.has(String(status));
}
