import { type FieldNode, type GraphQLField, type GraphQLObjectType, getNamedType, isObjectType, Kind, type SelectionNode } from 'graphql';
import { collect, type SelectionContext } from '../kernel/lists/collect.js';
import { isConnection } from '../kernel/model/connection.js';
import { memberOf } from '../kernel/model/fieldRules.js';
import type { Relation } from '../kernel/tables/relation.js';
import type { AnyTable } from '../kernel/tables/table.js';

/** A field that the database computes of the records of a table. */
export interface Computed {
  table: AnyTable;
  name: string;
}

/** What is known of what stands below the records of a list. */
export interface NestedSelection {
  /** Whether something of it may be of their own type again, or is neither a column, a computed field nor a declared relation. */
  leadsBack: boolean;
  computed: Computed[];
}

/** What of a connection is its own, whatever its records are. */
const ownMembers = ['totalCount', 'pageInfo'];

/** What stands below a selection of the records of a type. */
export function nestedSelection(context: SelectionContext, type: GraphQLObjectType, selections: readonly SelectionNode[]): NestedSelection {
  const walk = new SelectionWalk(context, type);
  const leadsBack = walk.record(type, [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'node' }, selectionSet: setOf(selections) }]);
  return { leadsBack, computed: walk.computed };
}

const setOf = (selections: readonly SelectionNode[]) => ({ kind: Kind.SELECTION_SET, selections }) as const;

/** Looks through a selection for what leads to a type. Each step answers whether it does. */
class SelectionWalk {
  readonly computed: Computed[] = [];

  constructor(
    private readonly context: SelectionContext,
    private readonly type: GraphQLObjectType,
  ) {}

  record(parent: GraphQLObjectType, nodes: readonly FieldNode[]): boolean {
    const table = parent.extensions.table as AnyTable | undefined;
    return !table || this.#fields(parent, nodes).some(([field, group]) => this.#field(table, field, group));
  }

  #field(table: AnyTable, field: GraphQLField<unknown, unknown>, group: readonly FieldNode[]): boolean {
    const { relation, isResolved } = field.extensions as { relation?: Relation; isResolved?: boolean };
    const target = getNamedType(field.type);
    if (relation) {
      // What narrows a list of others may look at anything.
      const isNarrowed = group[0]!.arguments?.some(({ name: { value } }) => value === 'filter' || value === 'where');
      return isNarrowed || this.#related(target as GraphQLObjectType, group);
    }
    const name = memberOf(field);
    if (table.computed[name]) return !this.computed.push({ table, name });
    return isResolved || !table.columnOf(name) || (isObjectType(target) && this.#part(target, group));
  }

  #related(target: GraphQLObjectType, group: readonly FieldNode[]): boolean {
    if (isConnection(target)) return this.#page(target, group);
    return target === this.type || this.record(target, group);
  }

  #page(page: GraphQLObjectType, group: readonly FieldNode[]): boolean {
    const record = getNamedType(page.getFields().nodes!.type) as GraphQLObjectType;
    if (record === this.type) return true;
    return this.#fields(page, group).some(([{ name, type }, nodes]) => {
      if (name === 'nodes') return this.record(record, nodes);
      if (name !== 'edges') return !ownMembers.includes(name);
      const edges = this.#fields(getNamedType(type) as GraphQLObjectType, nodes);
      return edges.some(([edge, inner]) => edge.name === 'node' && this.record(record, inner));
    });
  }

  /** An object that is kept in a column. */
  #part(type: GraphQLObjectType, nodes: readonly FieldNode[]): boolean {
    return this.#fields(type, nodes).some(([{ extensions, type: own }, group]) => {
      const inner = getNamedType(own);
      return Boolean(extensions.isResolved) || (isObjectType(inner) && this.#part(inner, group));
    });
  }

  /** The fields of a selection, without the name of its type. */
  #fields(type: GraphQLObjectType, nodes: readonly FieldNode[]): [GraphQLField<unknown, unknown>, FieldNode[]][] {
    const sets = nodes.map(({ selectionSet }) => selectionSet);
    return [...collect(this.context, type, sets).values()].flatMap((group) => {
      const field = type.getFields()[group[0]!.name.value];
      return field ? [[field, group] as [GraphQLField<unknown, unknown>, FieldNode[]]] : [];
    });
  }
}
