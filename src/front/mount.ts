import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { rawBody } from '../http/callbacks.js';
import { isFromHere } from '../http/probes.js';
import { notFound, unauthenticated } from '../kernel/base/errors.js';
import { Html, html } from '../kernel/base/html.js';
import type { App } from '../kernel/context/context.js';
import { Assets } from './assets.js';
import { guide } from './guide.js';
import { bar, page } from './page.js';
import { tabs } from './tabs.js';

/** How to get into the demo account. */
export interface DemoAccess {
  email: string;
  password?: string;
}

export interface Front {
  /** GraphiQL, for a browser that was led to `/graphql`. */
  graphiql(request: FastifyRequest, reply: FastifyReply): unknown;
}

interface FrontParts {
  app: App;
  schema: GraphQLSchema;
  demo(): DemoAccess | undefined;
}

/**
 * The pages for people: what this is, GraphiQL, the reference of the REST API, the guide, the schema to download. They are served
 * by this process alone, without a CDN, and what they load is read when it is asked for.
 */
export function mountFront(server: FastifyInstance, { app, schema, demo }: FrontParts): Front {
  const assets = new Assets();
  assets.mount(server);
  const more = (): [string, string][] => (server.hasRoute({ method: 'GET', url: '/board' }) ? [['/board', 'Board']] : []);
  const shared = () => ({ styles: [assets.urlOf('page.css')], scripts: [assets.urlOf('page.js')] });
  const route = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    server.get(url, { config: { bare: true, route: url, page: true } }, async (request, reply) => handler(request, reply));

  route('/', (request, reply) => {
    const access = isFromHere(request, app.config) ? demo() : undefined;
    return rawBody(reply, page({ ...shared(), title: 'CRM server', body: home(app, access, more()) }));
  });
  route('/docs', (_request, reply) => {
    const { styles, scripts } = shared();
    const body = html`<body>${bar('/docs', more())}<div id="reference" data-document="/api/v1/openapi.json"></div></body>`;
    const tool = [assets.urlOf('reference.js'), assets.urlOf('reference.page.js')];
    return rawBody(reply, page({ title: 'REST reference', styles, scripts: [...scripts, ...tool], isTool: true, body }));
  });
  route('/guide', async (_request, reply) => {
    const list = (await guide()).map(({ name, title }) => html`<li><a href="/guide/${name}">${title}</a></li>`);
    const body = html`<body>${bar('/guide', more())}<main class="text"><h1>Guide</h1><ul>${list}</ul></main></body>`;
    return rawBody(reply, page({ ...shared(), title: 'Guide', body }));
  });
  route('/guide/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const chapter = (await guide()).find((one) => one.name === name);
    if (!chapter) throw notFound('Chapter');
    const body = html`<body>${bar('/guide', more())}<main class="text">${new Html(chapter.content)}</main></body>`;
    return rawBody(reply, page({ ...shared(), title: chapter.title, body }));
  });
  mountSchema(server, app, schema);
  const styles = ['page.css', 'graphiql.css'];
  const scripts = ['page.js', 'graphiql.js', 'graphiql.page.js'];
  return {
    graphiql(_request, reply) {
      const [editor, graphql, json] = ['editor', 'graphql', 'json'].map((name) => assets.urlOf(`graphiql.${name}.js`));
      const body = html`<body class="tool">${bar('/graphql', more())}<div id="graphiql" data-editor="${editor}" data-graphql="${graphql}"
 data-json="${json}" data-tabs="${JSON.stringify(tabs)}"></div></body>`;
      const urls = (names: string[]) => names.map((name) => assets.urlOf(name));
      return rawBody(reply, page({ title: 'GraphiQL', styles: urls(styles), scripts: urls(scripts), isTool: true, body }));
    },
  };
}

/** The schema as text, for whoever may ask for it by introspection; in the demo for everybody. */
function mountSchema(server: FastifyInstance, { config }: App, schema: GraphQLSchema): void {
  let text: string | undefined;
  server.get('/schema.graphql', { config: { route: '/schema.graphql' } }, async ({ ctx }, reply) => {
    if (config.production && !config.seedDemo && !ctx.principal) throw ctx.request.refusal ?? unauthenticated();
    text ??= `${printSchema(lexicographicSortSchema(schema))}\n`;
    reply.type('application/graphql; charset=utf-8').header('Content-Disposition', 'inline; filename="schema.graphql"');
    return text;
  });
}

function home({ config }: App, demo: DemoAccess | undefined, more: readonly [string, string][]): Html {
  const at = config.publicUrl;
  const rows: [string, string, string][] = [
    ['/guide', 'Guide', 'Authentication, errors, paging, safe retries, events, webhooks, limits: an example each'],
    ['/docs', 'REST reference', `Every route of ${at}/api/v1, to try out`],
    ['/graphql', 'GraphiQL', `The same by GraphQL, at ${at}/graphql; subscriptions over WebSocket there, over SSE at /graphql/stream`],
    ...more.map(([href, name]): [string, string, string] => [href, name, 'The deals as a board, live']),
    ['/api/v1/openapi.json', 'openapi.json', 'The REST API for generators and tools (OpenAPI 3.1)'],
    ['/api/v1/postman.json', 'postman.json', 'The same for Postman, Insomnia, Bruno and Hoppscotch, an example body for each write'],
    ['/schema.graphql', 'schema.graphql', 'The GraphQL schema for generators and tools'],
  ];
  return html`<body>${bar('/', more)}<main class="text"><h1>CRM server</h1>
<p>A multi-tenant CRM as an API: contacts, companies, deals, tasks, invoices, messages, calendars, calls, forms, webhooks and workflows.
One GraphQL schema does the work and is served twice, as GraphQL and as REST.</p>
<section data-guest><h2>Log in</h2>${loginForm(demo)}</section>
<section data-member hidden><h2>You are logged in</h2><p>The pages here use your session; programs send an API key.</p></section>
<section><h2>APIs and pages</h2><dl>${rows.map(([href, name, text]) => html`<dt><a href="${href}">${name}</a></dt><dd>${text}</dd>`)}</dl></section>
</main></body>`;
}

const loginForm = (
  demo: DemoAccess | undefined,
): Html => html`<p>The pages here use the session of your browser; programs send an API key.</p>
${demo?.password && html`<p>The demo account: <code>${demo.email}</code>, password <code>${demo.password}</code>. It is shown to this machine only.</p>`}
<form data-login method="post"><label>E-mail<input name="email" type="email" autocomplete="username" required value="${demo?.password ? demo.email : ''}"></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required value="${demo?.password ?? ''}"></label>
<label hidden>Code of your authenticator, or a recovery code<input name="code" autocomplete="one-time-code"></label>
<button>Log in</button><p role="status" data-message></p></form>`;
