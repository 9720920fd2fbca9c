import type { GraphQLSchema } from 'graphql';
import type { Context } from './context.js';
import type { Batch } from './loaders.js';
import type { Fact } from './outbox.js';
import type { Row } from './rows.js';

/** What another module does when something happens, in the transaction of the change. */
export type Reaction = (ctx: Context, fact: Fact) => Promise<void>;

/** What the world sees of a module: one default export of `<noun>s.module.ts`. */
export interface Module {
  name: string;
  /** Resolver classes. */
  resolvers: NonNullable<unknown>[];
  /** REST rows, one line per row of the contract. */
  routes: Row[];
  /** The events that this module emits. */
  events?: readonly string[];
  /** Reactions to the events of earlier modules. */
  on?: Record<string, Reaction>;
  /** Loaders by the name under which `ctx.load` offers them. */
  loaders?: Record<string, Batch<never> | Batch>;
}

export const defineModule = (module: Module): Module => module;

/** What all modules together offer the kernel. */
export interface Registry {
  loaders: ReadonlyMap<string, Batch>;
  reactions: ReadonlyMap<string, Reaction[]>;
  schema(): GraphQLSchema;
}

/** Gathers the modules; `schema` is filled in once it is built. */
export function registryOf(modules: readonly Module[], schema: () => GraphQLSchema): Registry {
  const loaders = new Map<string, Batch>();
  const reactions = new Map<string, Reaction[]>();
  for (const module of modules) {
    for (const [name, batch] of Object.entries(module.loaders ?? {})) {
      if (loaders.has(name)) throw new Error(`Two loaders are called ${name}`);
      loaders.set(name, batch as Batch);
    }
    for (const [event, reaction] of Object.entries(module.on ?? {})) reactions.set(event, [...(reactions.get(event) ?? []), reaction]);
  }
  return { loaders, reactions, schema };
}
