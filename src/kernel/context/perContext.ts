/** Who has what is made for each context. */
export interface Owner {
  readonly belongings: Map<symbol, unknown>;
}

/** Something that each context has one of, made when it is first asked for, and gone with it. Answers how to ask for it. */
// In the context and not in a WeakMap: what the values of an old one lead to outlives every collection of young objects, and that is the
// whole request.
export function perContext<T, C extends Owner = Owner>(make: (ctx: C) => T): (ctx: C) => T {
  const key = Symbol();
  return (ctx) => {
    const known = ctx.belongings.get(key) as T | undefined;
    if (known !== undefined) return known;
    const made = make(ctx);
    ctx.belongings.set(key, made);
    return made;
  };
}
