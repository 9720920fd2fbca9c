import { readFileSync } from 'node:fs';

interface Schema {
  $ref?: string;
  allOf?: Schema[];
  properties?: Record<string, unknown>;
}
interface Response {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
}
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response>; schemas: Record<string, Schema> };
}

interface Endpoint {
  segments: string[];
  /** The members that the JSON of each status may have. */
  statuses: ReadonlyMap<string, ReadonlySet<string>>;
}

let known: Map<string, Endpoint[]> | undefined;

const addressOf = (method: string, segments: readonly string[]) => `${method.toLowerCase()} ${segments.length}`;
const nameIn = (reference: string) => reference.split('/').at(-1)!;

function membersOf({ components }: Document, response: Response): ReadonlySet<string> {
  const { content = {} } = response.$ref ? components.responses[nameIn(response.$ref)]! : response;
  const all = (schema: Schema = {}): string[] => [
    ...Object.keys(schema.properties ?? {}),
    ...(schema.allOf ?? []).flatMap(all),
    ...(schema.$ref ? all(components.schemas[nameIn(schema.$ref)]) : []),
  ];
  return new Set(all(content['application/json']?.schema));
}

/** The endpoints of the published document, by their method and the length of their path; those without a parameter first. */
function endpoints(): Map<string, Endpoint[]> {
  const document = JSON.parse(readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8')) as Document;
  const found = new Map<string, Endpoint[]>();
  const paths = Object.entries(document.paths).sort(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')));
  for (const [path, methods] of paths)
    for (const [method, { responses }] of Object.entries(methods)) {
      const segments = path.split('/');
      const address = addressOf(method, segments);
      const statuses = new Map(Object.entries(responses).map(([status, response]) => [status, membersOf(document, response)]));
      found.set(address, [...(found.get(address) ?? []), { segments, statuses }]);
    }
  return found;
}

/** What the published document says of the endpoint that a request leads to; undefined where it leads to none. */
function endpointOf(method: string, path: string): Endpoint | undefined {
  known ??= endpoints();
  const segments = path.split('?')[0]!.split('/');
  return known
    .get(addressOf(method, segments))
    ?.find((one) => one.segments.every((segment, n) => segment.startsWith('{') || segment === segments[n]));
}

/** What is answered before a request is read, whatever endpoint it is for: an address or headers that are too large. */
const beforeEndpoints = 431;

/** Whether the published document names a status for the endpoint that a request leads to; true where it leads to none. */
export function isPublishedStatus(method: string, path: string, status: number): boolean {
  if (status === beforeEndpoints) return true;
  const endpoint = endpointOf(method, path);
  return endpoint === undefined || endpoint.statuses.has(String(status));
}

/** The members of an error that the published document does not name for the endpoint that a request leads to. */
export function unpublishedMembers(method: string, path: string, status: number, body: unknown): string[] {
  if (status < 400 || status === beforeEndpoints || typeof body !== 'object' || body === null) return [];
  const members = endpointOf(method, path)?.statuses.get(String(status));
  return members ? Object.keys(body).filter((name) => !members.has(name)) : [];
}
