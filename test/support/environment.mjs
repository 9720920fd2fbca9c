import { TestEnvironment } from 'jest-environment-node';

/**
 * The tests meet the server as the build left it, loaded once by each worker and not anew by each file, which took most of
 * a file's time. See transform.mjs, which leads their imports here.
 */
export default class extends TestEnvironment {
  constructor(...given) {
    super(...given);
    this.global.importBuilt = (specifier) => import(specifier);
    // What crosses the border must be of one kind on both sides: the clock's dates, what decorators of a test note down.
    Object.assign(this.global, { Date, Reflect });
  }
}
