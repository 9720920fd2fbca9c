declare const importBuilt: <T>(name: string) => Promise<T>;

const { constructor: make } = (await importBuilt<{ default: NodeJS.Process }>('node:process')).default.emitWarning;

/** The globals of the server as the build left it: a test has others. */
export const serverGlobal = make('return globalThis')() as typeof globalThis & Record<string, unknown>;
