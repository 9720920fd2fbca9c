import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { Extensions } from 'type-graphql';
import { type AppError, denied, unauthenticated } from '../base/errors.js';
import type { Principal, Role } from '../base/principal.js';
import { recordFields } from '../model/restRecord.js';
import { declareScope } from '../model/scopes.js';
import { type Fragments, fieldsIn, fragmentOf, fragmentsOf } from '../model/selections.js';

/** What an operation asks of its caller. Stated on a resolver class or method; a missing mark fails the boot. */
export interface AccessMark {
  /** The domain that a key must be allowed (contract "Authentication", 3). Absent: any key. */
  scope?: string;
  /** The least role; a key counts with its creator's. */
  role?: Role;
  /** Lets members of a lower role in whose permissions name it: `settings:edit`. */
  permission?: string;
  /** Asks a key for the admin tier besides. */
  admin?: boolean;
  /** Only for an interactive session. */
  session?: boolean;
  /** Open to a session whose role must have a second factor that is not set up yet: what it takes to do so. */
  beforeMfa?: boolean;
  /** Open to a session whose account is suspended: what concerns the session and nothing of the account. */
  whileSuspended?: boolean;
  /** No credentials at all. */
  public?: boolean;
}

const classMarks = new WeakMap<object, AccessMark>();

/** Marks a resolver class (all its root fields) or one method (which then replaces the class's mark). */
export function Access(mark: AccessMark): ClassDecorator & MethodDecorator {
  if (mark.scope) declareScope(mark.scope);
  return (target: object, method?: string | symbol) => {
    if (method === undefined) classMarks.set(target, mark);
    else Extensions({ access: mark })(target, method);
  };
}

/** No credentials needed. */
export const Public = () => Access({ public: true });

export const classMark = (target: object) => classMarks.get(target);

/** Everything that one document needs, computed once when it is compiled. */
export interface Needs {
  public: boolean;
  session: boolean;
  beforeMfa: boolean;
  whileSuspended: boolean;
  admin: boolean;
  role: Role;
  /** What a caller of a lower role may have instead of it; all of them. */
  permissions: string[];
  write: boolean;
  scopes: string[];
  /** Whether it asks for more of whom a login answers than their own fields. Nobody may: it would be answered for the caller. */
  leadsOn: boolean;
}

/** What may be done by every caller who is known. */
export const noNeeds = (): Needs => ({
  public: false,
  session: false,
  beforeMfa: false,
  whileSuspended: false,
  admin: false,
  role: 'member',
  permissions: [],
  write: false,
  scopes: [],
  leadsOn: false,
});

const rank: Record<Role, number> = { member: 0, admin: 1, owner: 2 };

/** The needs of a document: those of its root fields, and the scope of every record type that it selects. */
export function needsOf(schema: GraphQLSchema, document: DocumentNode): Needs {
  const needs: Needs = { ...noNeeds(), public: true, beforeMfa: true, whileSuspended: true };
  const scopes = new Set<string>();
  const info = new TypeInfo(schema);
  const fragments = fragmentsOf(document);
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  visit(
    document,
    visitWithTypeInfo(info, {
      OperationDefinition: (node) => {
        needs.write ||= node.operation === OperationTypeNode.MUTATION;
      },
      Field: (node) => {
        const field = info.getFieldDef();
        const parent = info.getParentType();
        if (!field || field.name.startsWith('__')) return;
        if (isObjectType(parent) && roots.has(parent)) addMark(needs, scopes, markOf(field));
        const beyond = scopesBeyond(schema, fragments, field, node);
        const isPastEnd = goesPastEnd(fragments, field, node);
        if (beyond.length === 0 && !isPastEnd) return;
        needs.leadsOn ||= isPastEnd;
        for (const scope of beyond) scopes.add(scope);
        // What a public operation, or one before the second factor or while suspended, answers of the caller leads no further.
        needs.public = false;
        needs.beforeMfa = false;
        needs.whileSuspended = false;
      },
    }),
  );
  needs.scopes = [...scopes];
  return needs;
}

/** The mark of a root field. */
export function markOf(field: GraphQLField<unknown, unknown>): AccessMark {
  const mark = field.extensions.access as AccessMark | undefined;
  if (!mark) throw new Error(`${field.name} has no access mark (@Access)`);
  return mark;
}

function addMark(needs: Needs, scopes: Set<string>, mark: AccessMark) {
  needs.public &&= mark.public ?? false;
  needs.session ||= mark.session ?? false;
  needs.beforeMfa &&= mark.beforeMfa ?? mark.public ?? false;
  needs.whileSuspended &&= mark.whileSuspended ?? mark.public ?? false;
  needs.admin ||= mark.admin ?? false;
  if (mark.permission) needs.permissions.push(mark.permission);
  else if (mark.role && rank[mark.role] > rank[needs.role]) needs.role = mark.role;
  if (mark.scope) scopes.add(mark.scope);
}

/**
 * The scope of the record that a field leads to, unless no more of it is selected than comes along with the parent. A field that
 * may lead to records of several types asks for the scopes of those that its fragments name.
 */
function scopesBeyond(schema: GraphQLSchema, fragments: Fragments, field: GraphQLField<unknown, unknown>, node: FieldNode): string[] {
  const type = getNamedType(field.type);
  const { selectionSet = nothing } = node;
  if (isAbstractType(type)) return conditionsIn(fragments, selectionSet).flatMap((name) => scopeOf(schema.getType(name)));
  if (!isObjectType(type)) return [];
  const free = alongsideOf(field, type);
  const isAlongside = free.length > 0 && namesIn(fragments, selectionSet).every((name) => free.includes(name));
  return isAlongside ? [] : scopeOf(type);
}

/** Whether more is selected of a record that a login answers (`OfLogin`) than its own fields. */
function goesPastEnd(fragments: Fragments, field: GraphQLField<unknown, unknown>, { selectionSet = nothing }: FieldNode): boolean {
  const type = getNamedType(field.type);
  if (!field.extensions.isEnd || !isObjectType(type)) return false;
  const own = alongsideOf(field, type);
  return namesIn(fragments, selectionSet).some((name) => !own.includes(name));
}

const scopeOf = (type: GraphQLNamedType | undefined): string[] => (type?.extensions.scope ? [String(type.extensions.scope)] : []);

/**
 * The fields of a record that whoever reads its parent reads with it: those that are part of the parent's record (a contact's
 * tags, their id and name), and those that the type shows wherever something leads to it (a user's id and name).
 */
export function alongsideOf(field: GraphQLField<unknown, unknown>, type: GraphQLObjectType): string[] {
  const { record, whole } = field.extensions as { record?: string[]; whole?: boolean };
  const own = Object.values(type.getFields()).filter((one) => !isObjectType(getNamedType(one.type)));
  if (whole) return own.map(({ name }) => name);
  const ofParent = record?.length === 0 ? [...recordFields(type).map(({ name }) => name), ...following(own)] : (record ?? []);
  return [...ofParent, ...((type.extensions.alongside as string[] | undefined) ?? [])];
}

/** The plain fields that say nothing which the record does not: what follows from its row alone, and amounts exactly. */
function following(fields: readonly GraphQLField<unknown, unknown>[]): string[] {
  const isOwn = ({ extensions: { rule, derived } }: GraphQLField<unknown, unknown>) => rule !== undefined || derived !== undefined;
  const own = new Set(fields.filter(isOwn).map(({ name }) => name));
  return fields.flatMap((field) => (own.has(field.name) || own.has(field.extensions.exactOf as string) ? [field.name] : []));
}

/** What a field selects that has no fields. */
const nothing: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: [] };

const namesIn = (fragments: Fragments, set: SelectionSetNode): string[] =>
  [...fieldsIn(fragments, set)].flatMap(({ name: { value } }) => (value.startsWith('__') ? [] : [value]));

/** The types that the fragments of a selection are on, and those within them. */
function conditionsIn(fragments: Fragments, { selections }: SelectionSetNode): string[] {
  return selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return [];
    const fragment = fragmentOf(fragments, node);
    if (!fragment) return [];
    const condition = fragment.typeCondition?.name.value;
    return [...(condition ? [condition] : []), ...conditionsIn(fragments, fragment.selectionSet)];
  });
}

/** Who asks: nobody, or a principal; and why the credentials that came were not taken. */
export interface Asker {
  principal: Principal | null;
  request: { refusal?: AppError };
}

/** Throws 401 or 403 unless the caller may run what has these needs. */
export function allow({ principal, request }: Asker, needs: Needs): void {
  if (needs.public) return;
  if (!principal) throw request.refusal ?? unauthenticated();
  if (principal.isSuspended && !needs.whileSuspended) throw isSuspended();
  if (needs.leadsOn)
    throw denied(
      'The answer to a login shows the person and the account by their own fields: ask for the rest in the session that it opens',
    );
  if (principal.kind === 'key') allowKey(principal, needs);
  if (principal.owesMfa && !needs.beforeMfa) throw owesMfa();
  if (rank[principal.role] < rank[needs.role]) throw denied(`This needs the role ${needs.role}`);
  const lacking = needs.permissions.find((permission) => !isPermitted(principal, permission));
  if (lacking) throw denied(`This needs the permission ${lacking}, or the role admin`);
}

/** Whether somebody has a permission: owners and admins have all of them. */
const isPermitted = ({ role, permissions = [] }: Principal, permission: string): boolean =>
  rank[role] >= rank.admin || permissions.includes(permission);

/** What somebody is told whose account is suspended. */
export const isSuspended = () => denied('The account is suspended');

/** What somebody is told whose role must have a second factor, and who has none yet. */
export const owesMfa = () => denied('Your role must have a second factor: set one up first (POST /auth/mfa/setup)');

/** What reading a record of a type asks for: as much as its own root field does, else the scope of its type. */
export function markOfType(schema: GraphQLSchema, type: GraphQLObjectType): AccessMark {
  const root = schema.getQueryType()?.getFields()[type.name.charAt(0).toLowerCase() + type.name.slice(1)];
  const own = root && getNamedType(root.type) === type ? markOf(root as GraphQLField<unknown, unknown>) : undefined;
  const [scope] = scopeOf(type);
  return own ?? (scope ? { scope } : {});
}

function allowKey(key: Principal, needs: Needs) {
  if (needs.session) throw denied('This needs an interactive session; API keys are refused');
  if (needs.write && key.tier === 'read') throw denied('This API key is read-only');
  if (needs.admin && key.tier !== 'admin') throw denied('This needs an API key with the admin permission');
  const missing = needs.scopes.filter((scope) => !mayRead(key, scope));
  if (missing.length > 0) throw denied(`This API key lacks the scope ${missing.join(', ')}`);
}

/** Whether somebody may read the records of a domain. */
export const mayRead = ({ scopes }: Pick<Principal, 'scopes'>, scope: string): boolean => scopes?.includes(scope) ?? true;

/** Whether a caller may do what a mark asks for. */
export function mayUse(principal: Principal, mark: AccessMark): boolean {
  const { kind, role, tier, scopes, owesMfa: owes } = principal;
  if (mark.public) return true;
  if (principal.isSuspended && !mark.whileSuspended) return false;
  if (owes && !mark.beforeMfa) return false;
  if (mark.permission && !isPermitted(principal, mark.permission)) return false;
  if (mark.role && rank[role] < rank[mark.role]) return false;
  if (kind !== 'key') return true;
  return !mark.session && (!mark.admin || tier === 'admin') && (!mark.scope || mayRead({ scopes }, mark.scope));
}

/** The record types, in lower case, that a key with these scopes may read; null for all of them. */
export function readableTypes(schema: GraphQLSchema, scopes: readonly string[] | null): string[] | null {
  if (!scopes) return null;
  const types = Object.values(schema.getTypeMap());
  return types.filter(({ extensions: { scope } }) => scope && scopes.includes(String(scope))).map(({ name }) => name.toLowerCase());
}
