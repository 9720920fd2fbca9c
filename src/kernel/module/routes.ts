import type { Readable } from 'node:stream';
import type { AccessMark } from '../access/access.js';
import type { Context } from '../context/context.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** The list response shapes of the contract, "List response shapes". */
export type ReplyShape = 'one' | 'page' | 'flatPage' | 'camelPage' | 'bare' | 'beside';

/** What the handler of a raw endpoint gets of the request: what came, not yet as the variables of an operation. */
export interface RawRequest {
  params: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
  /** The query string as the arguments of the list that the endpoint filters like. */
  args?: Record<string, unknown>;
}

export interface RawReply {
  status?: number;
  type?: string;
  headers?: Record<string, string>;
  body: string | Readable | object;
}

/** Members of an object by their names, each written as its type of GraphQL: `'[Blocker!]!'`. A name that ends in `?` need not be there. */
export interface Told {
  readonly [name: string]: string | Told | readonly [Told];
}

/** The variable of an endpoint's document that says whether the caller may read members: what comes along says more of them then. */
export const membersVariable = 'mayReadUsers';

/** Who looks after a record, as REST carries them along: by id and name, and by address for those who may read members. */
export const assignedUser = `assignedUser { id name email @include(if: $${membersVariable}) }`;

export interface EndpointOptions {
  /** Names of the query parameters that differ from the operation's arguments: `assigned_to: 'filter.assignedTo'`. */
  query?: Record<string, string>;
  /** The arguments of path parameters that are called otherwise: `{ id: 'pipelineId' }`. */
  pathArgs?: Record<string, string>;
  /** Path parameters that hold the id of somebody else's record, in whatever form that has: no UUID of ours. */
  foreignIds?: readonly string[];
  /** Arguments that the endpoint gives by itself, and takes from nobody: `{ 'filter.channel': 'email' }`. */
  fixed?: Record<string, unknown>;
  /** Other names under which the body's members come: `first_name: 'firstName'`. */
  body?: Record<string, string>;
  /** Whether the members of the input may come by the query string too; those of the body win. */
  inputByQuery?: boolean;
  /** More of the record than its own fields, as a selection: `'stage { id name }'`. Who may read the record may read it. */
  with?: string;
  /** Relations of a list's records that `include=` asks for by name, each as the field that it gets: `'stage { id name }'`. */
  include?: Record<string, string>;
  /** The members of a list's records that `minimal=true` asks for alone. */
  minimal?: readonly string[];
  /** More of a list's answer, as a field, that a query parameter of the name asks for when it is true, shown in its meta. */
  extras?: Record<string, string>;
  /** Query parameters of a raw endpoint that are true or false, false by default: each with what true says. */
  flags?: Record<string, string>;
  /** Plain fields of a list's answer that its meta always shows. */
  beside?: readonly string[];
  /** The fields of the record, where they are others than its own. */
  select?: string;
  /** Whether it is called so often that it goes the short way. */
  hot?: boolean;
  /** Whether it succeeds whatever the body is: what cannot be read counts as nothing. */
  forgiving?: boolean;
  /** Whether pages of any origin may call it: without credentials, which it never looks at. Only for public operations. */
  open?: boolean;
  /** Whether it begins or ends a session, whose cookie it sets. */
  setsCookie?: boolean;
  /** Bytes that the body may have; 1 MiB by default. */
  bodyCap?: number;
  /** Statuses that the document names besides those which follow from the endpoint's kind. */
  also?: number[];
  /** Success statuses by a flag of the result: `{ created: 201 }`. */
  statusWhen?: Record<string, number>;
  /** For the document: what the errors of a status tell besides what every error does. */
  tells?: Readonly<Record<number, Told>>;
  as?: ReplyShape;
  status?: number;
  /** For `beside`: the member that becomes `data`. */
  data?: string;
  /** The member whose members stand in its place: a record that GraphQL answers with something besides. */
  spread?: string;
  /** How many records a page has by default, where that is not as many as everywhere: of a list that the contract does not page. */
  pageSize?: number;
  /** Page figures in response headers too (pipelines). */
  pagingHeaders?: boolean;
  /** For the document: the JSON Schema of what a raw endpoint answers; text by default. */
  answerSchema?: Record<string, unknown>;
}

/** One row of the contract's endpoint tables: pure data, read by the mount, the document, the catalog and the everyRoute test. */
export interface Endpoint extends EndpointOptions {
  method: Method;
  path: string;
  as: ReplyShape;
  status: number;
  /** The root field that serves it; none for a raw endpoint. */
  operation?: string;
  /** The status of invalid input where its mutation is `Unprocessable`. */
  invalid?: 422;
  /** The arguments of a list are its query; those of the rest are `id`, more path parameters and `input`. */
  list?: boolean;
  handler?: (ctx: Context, request: RawRequest) => Promise<RawReply>;
  access?: AccessMark;
  /** For a raw endpoint: the list operation whose filters and sorts its query string takes. */
  filters?: string;
  /** What a raw endpoint answers, for the document: a media type. */
  answers?: string;
  summary?: string;
}

/** Path parameters under the names of the operation's arguments. */
export const pathArguments = ({ pathArgs = {} }: EndpointOptions, params: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [pathArgs[name] ?? name, value]));

type Address = `${Method} /${string}`;

function endpoint(address: Address, rest: Omit<Endpoint, 'method' | 'path'>): Endpoint {
  const [method, path] = address.split(' ') as [Method, string];
  return { method, path, ...rest };
}

/** A list: pages, filters and sorts by query string. */
export const list = (address: Address, operation: string, options: EndpointOptions & { as: ReplyShape }) =>
  endpoint(address, { operation, list: true, status: 200, ...options });
/** A single read, 200. */
export const read = (address: Address, operation: string, options: EndpointOptions = {}) =>
  endpoint(address, { operation, as: 'one', status: 200, ...options });
/** A creation, 201. */
export const make = (address: Address, operation: string, options: EndpointOptions = {}) =>
  endpoint(address, { operation, as: 'one', status: 201, ...options });
/** A change, 200. */
export const edit = (address: Address, operation: string, options: EndpointOptions = {}) =>
  endpoint(address, { operation, as: 'one', status: 200, ...options });
/** A removal, 200. */
export const drop = edit;
/** A verb of the domain, 200. */
export const act = edit;

/** An endpoint with a handler of its own, for what is no JSON record. */
export const raw = (
  address: Address,
  handler: NonNullable<Endpoint['handler']>,
  options: EndpointOptions & { access: AccessMark; answers: string; summary: string; filters?: string },
) => endpoint(address, { handler, as: 'one', status: 200, ...options });

/** A retired endpoint: 410 with a message that names its replacement. */
export const gone = (address: Address, message: string, options: { access: AccessMark }) =>
  endpoint(address, { as: 'one', status: 410, summary: `Retired. ${message}`, ...options });
