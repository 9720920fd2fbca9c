import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
/** Below `workerIdleMemoryLimit` of jest.config.js, which counts garbage too: a new worker takes longer to warm up than this. */
const mostHeap = 450e6;
/** The memory of closed embedded databases, which does not stand on the heap, goes with its objects. */
const mostBeside = 800e6;
/** What is in use does not go: to collect takes a second, and is done again only once this much has come. */
const worthCollecting = 150e6;

const used = { heap: 0, beside: 0 };

/**
 * Jest asks in which test an error happens, and by its `AsyncLocalStorage` has Node call a hook at every promise of the server: a tenth
 * of a worker's time. One test runs at a time here, so whatever happens while it does is its own; nobody else in a worker keeps one.
 */
const running = new WeakMap();
AsyncLocalStorage.prototype.getStore = function () {
  return running.get(this);
};
AsyncLocalStorage.prototype.run = async function (test, work, ...given) {
  const before = running.get(this);
  running.set(this, test);
  try {
    return await work(...given);
  } finally {
    running.set(this, before);
  }
};

/**
 * The tests meet the server as the build left it, loaded once by each worker and not anew by each file, which took most of
 * a file's time. See transform.mjs, which leads their imports here.
 */
export default class extends TestEnvironment {
  constructor(...given) {
    super(...given);
    this.global.importBuilt = (specifier) => import(specifier);
    // Where PostgreSQL serves, nobody asks.
    this.global.takeDatabase = async (image) => (await import('./kept.mjs')).takeDatabase(image);
    // What crosses the border must be of one kind on both sides: the clock's dates, what decorators of a test note down.
    Object.assign(this.global, { Date, Reflect });
  }

  async teardown() {
    await super.teardown();
    const { heapUsed, external } = process.memoryUsage();
    const isFull =
      heapUsed > Math.max(mostHeap, used.heap + worthCollecting) || external > Math.max(mostBeside, used.beside + worthCollecting);
    if (!isFull) return;
    collectGarbage();
    const left = process.memoryUsage();
    Object.assign(used, { heap: left.heapUsed, beside: left.external });
  }
}
