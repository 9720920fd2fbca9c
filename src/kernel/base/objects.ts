type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** The members of an input that are given: what is undefined keeps its value, or takes its default. */
export const defined = <T extends object>(input: T): Given<T> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Given<T>;
