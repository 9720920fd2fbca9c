import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { codingFor, compressed } from '../http/compression.js';
import { notFound } from '../kernel/base/errors.js';

/** The folder of the project, from which its own files for browsers are read. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A file that pages load. Its content is read when it is first asked for. */
interface Asset {
  type: string;
  /** What changes when its content does: part of its address, so that browsers keep it for good. */
  version: string;
  content(): Promise<string | Buffer>;
}

const require = createRequire(import.meta.url);
const script = 'text/javascript; charset=utf-8';
const style = 'text/css; charset=utf-8';

/** The version of an installed package, which is what its files are of. */
function versionOf(name: string): string {
  const path = require.resolve.paths(name)!.map((folder) => join(folder, name, 'package.json'));
  for (const file of path) {
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    } catch {
      // in the next folder
    }
  }
  throw new Error(`${name} is not installed`);
}

/** GraphiQL, its editor and the editor's workers, as Yoga's package has them: texts in one module. */
function graphiql(): Record<string, Asset> {
  const name = '@graphql-yoga/render-graphiql';
  const version = versionOf(name);
  const texts = () =>
    import(pathToFileURL(join(dirname(require.resolve(name)), '../esm/graphiql.js')).href) as Promise<Record<string, string>>;
  const part = (member: string, type = script): Asset => ({ type, version, content: async () => (await texts())[member]! });
  return {
    'graphiql.css': part('css', style),
    'graphiql.js': part('js'),
    'graphiql.editor.js': part('editorWorkerService'),
    'graphiql.graphql.js': part('graphqlWorker'),
    'graphiql.json.js': part('jsonWorker'),
  };
}

/** The reference of the REST API, as Scalar's package has it. */
function reference(): Record<string, Asset> {
  const name = '@scalar/fastify-api-reference';
  const content = () => readFile(join(dirname(require.resolve(name)), 'js/standalone.js'));
  return { 'reference.js': { type: script, version: versionOf(name), content } };
}

/** A file of our own. */
function own(name: string): Record<string, Asset> {
  const text = readFileSync(join(root, 'public', name));
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { [name]: { type: name.endsWith('.css') ? style : script, version, content: async () => text } };
}

/** Slower than for an answer, since it is done once: the content is kept in the codings that it was asked for. */
const brotliQuality = 6;

/** The files that pages load, each at an address that says its version. Nothing is read before it is asked for. */
export class Assets {
  #all?: Record<string, Asset>;
  readonly #bodies = new Map<string, Promise<Buffer>>();

  get #files(): Record<string, Asset> {
    this.#all ??= {
      ...graphiql(),
      ...reference(),
      ...Object.assign({}, ...['page.css', 'page.js', 'graphiql.page.js', 'reference.page.js'].map(own)),
    };
    return this.#all!;
  }

  /** The address of a file. */
  urlOf(name: string): string {
    return `/assets/${this.#files[name]!.version}/${name}`;
  }

  mount(server: FastifyInstance): void {
    server.get('/assets/:version/:name', { config: { bare: true, route: '/assets' } }, (request, reply) => this.#serve(request, reply));
  }

  async #serve(request: FastifyRequest, reply: FastifyReply) {
    const { version, name } = request.params as { version: string; name: string };
    const asset = Object.hasOwn(this.#files, name) ? this.#files[name]! : undefined;
    if (asset?.version !== version) throw notFound('Endpoint');
    const coding = codingFor(request.headers['accept-encoding'] as string | undefined);
    reply.headers({
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(coding && { 'Content-Encoding': coding }),
    });
    reply.type(asset.type);
    return this.#body(name, asset, coding);
  }

  /** The content in a coding, or as it is: one copy for all who ask, however slowly they read. */
  async #body(name: string, asset: Asset, coding: 'br' | 'gzip' | undefined): Promise<Buffer> {
    const read = async () => Buffer.from(await asset.content());
    const key = `${coding} ${name}`;
    const inCoding = async (as: 'br' | 'gzip') => compressed(await read(), as, as === 'br' ? brotliQuality : undefined);
    const made = this.#bodies.get(key) ?? (coding ? inCoding(coding) : read());
    this.#bodies.set(key, made);
    made.catch(() => this.#bodies.delete(key));
    return made;
  }
}
