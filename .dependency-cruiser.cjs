/**
 * Who may import whom. Every rule is an error.
 *
 * The sources are read with swc, which shows every import, types included: TypeScript 7 has no JavaScript API for the usual
 * parser.
 */
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const layer = (name) => `^src/${name}/`;
const npm = (names) => `(^|/)node_modules/(${names})(/|$)`;
const serverLibraries = npm('fastify|@fastify|sofa-api|@apollo|graphql-ws|graphql-sse|ws');

/** The rooms of the kernel, floor by floor: a room imports those of the floors before its own. */
const floors = [
  ['base'],
  ['database', 'model'],
  ['access', 'egress', 'events', 'reads', 'writes'],
  ['context'],
  ['tables', 'operations', 'feed'],
  ['lists', 'matching'],
  ['module'],
];
const rooms = floors.flatMap((names, floor) => names.map((name) => ({ name, below: floors.slice(0, floor).flat() })));
const room = (name) => layer(`kernel/${name}`);

module.exports = {
  forbidden: [
    ...rooms.map(({ name, below }) =>
      forbid(
        'rooms-in-order',
        `${name} stands on ${below.join(', ') || 'nothing of ours'}.`,
        { path: room(name) },
        { path: layer('kernel'), pathNot: [room(name), ...below.map(room)] },
      ),
    ),
    forbid(
      'kernel-knows-nobody',
      'The kernel is what every module uses: it imports only itself and the Prisma client.',
      { path: layer('kernel') },
      { path: '^src/', pathNot: [layer('kernel'), layer('generated/prisma')] },
    ),
    forbid(
      'only-kernel-prisma',
      'The tenancy wall stands around the Prisma client.',
      { path: '^src/', pathNot: [layer('kernel'), layer('generated')] },
      { path: [layer('generated/prisma'), npm('@prisma|pg|@electric-sql|pglite-prisma-adapter')] },
    ),
    forbid(
      'only-apis-serve',
      'Modules, kernel and workers never know through which API a request came.',
      { path: '^src/', pathNot: [...['rest', 'graphql', 'http', 'front', 'client'].map(layer), '^src/app\\.ts$'] },
      { path: serverLibraries },
    ),
    forbid(
      'only-egress-calls-out',
      'Addresses that customers chose are called in one way, which looks at each of them; vendors have their own clients.',
      { path: '^src/', pathNot: [room('egress'), layer('vendors')] },
      { path: npm('undici') },
    ),
    forbid(
      'only-egress-opens-sockets',
      'What listens, and what calls the database, may know of sockets; nobody else, or somebody would call out by them.',
      { path: '^src/', pathNot: [room('egress'), room('database'), layer('vendors'), layer('http'), layer('graphql')] },
      { path: '^(node:)?(http|https|http2|net|tls|dgram)$' },
    ),
    forbid(
      'http-below-graphql',
      'rest → graphql → http → kernel.',
      { path: layer('http') },
      { path: '^src/', pathNot: [layer('http'), layer('kernel')] },
    ),
    forbid(
      'graphql-below-rest',
      'rest → graphql → http → kernel.',
      { path: layer('graphql') },
      { path: '^src/', pathNot: [layer('graphql'), layer('http'), layer('kernel')] },
    ),
    forbid(
      'front-shows',
      'The pages stand on the HTTP server: what they show, they ask for as any client does.',
      { path: layer('front') },
      { path: '^src/', pathNot: [layer('front'), layer('http'), layer('kernel')] },
    ),
    forbid(
      'rest-below-app',
      'The REST API knows rows and operations, no module.',
      { path: layer('rest') },
      { path: '^src/', pathNot: [layer('rest'), layer('graphql'), layer('http'), layer('kernel')] },
    ),
    forbid(
      'modules-below-apis',
      'A module imports the kernel, vendors and other modules.',
      { path: layer('modules') },
      { path: '^src/', pathNot: [layer('kernel'), layer('vendors'), layer('modules')] },
    ),
    forbid(
      'modules-meet-in-services',
      'Of another module only what it is (model, table) and does (service) is used, never its resolver or its registration.',
      { path: '^src/modules/([^/]+)/' },
      { path: '^src/modules/.+\\.(resolver|module)\\.ts$', pathNot: '^src/modules/$1/' },
    ),
    forbid(
      'model-at-the-bottom',
      'Inside a module a model imports models alone.',
      { path: '^src/modules/([^/]+)/.+\\.model\\.ts$' },
      { path: '^src/modules/$1/', pathNot: '\\.model\\.ts$' },
    ),
    forbid(
      'service-below-resolver',
      'Inside a module only resolvers and the module import resolvers, and nobody imports the module.',
      { path: '^src/modules/([^/]+)/', pathNot: '\\.(resolver|module)\\.ts$' },
      { path: '^src/modules/$1/.+\\.(resolver|module)\\.ts$' },
    ),
    forbid(
      'resolver-below-module',
      'A resolver imports no module.',
      { path: '^src/modules/.+\\.resolver\\.ts$' },
      { path: '\\.module\\.ts$' },
    ),
    forbid(
      'vendors-below-modules',
      'A vendor is called; it calls nobody.',
      { path: layer('vendors') },
      { path: '^src/', pathNot: [layer('kernel'), layer('vendors')] },
    ),
    forbid(
      'workers-use-services',
      'A worker does what a caller could do: through the services of the modules.',
      { path: layer('workers') },
      {
        path: '^src/',
        pathNot: [layer('kernel'), layer('vendors'), layer('workers'), '^src/modules/[^/]+/(?!.*\\.(resolver|module)\\.ts$)'],
      },
    ),
    forbid(
      'demo-uses-services',
      'The demo account is filled as a caller would fill it.',
      { path: layer('demo') },
      { path: '^src/', pathNot: [layer('kernel'), layer('demo'), '^src/modules/[^/]+/(?!.*\\.(resolver|module)\\.ts$)'] },
    ),
    forbid(
      'client-alone',
      'The client package runs elsewhere: it knows the published contract, and nothing of the server.',
      { path: layer('client') },
      { path: '^src/', pathNot: [layer('client'), layer('generated')] },
    ),
    forbid(
      'no-client-in-server',
      'The server is no client of its own.',
      { path: '^src/', pathNot: layer('client') },
      { path: layer('client') },
    ),
    forbid('nobody-above-app', 'The composition root is imported by the start alone.', { path: '^src/.+/' }, { path: '^src/[^/]+\\.ts$' }),
    forbid(
      'no-tests',
      'Nothing imports tests, scripts or the published documents.',
      { path: '^src/' },
      { path: '^(test|prisma|schema|\\.ci)/' },
    ),
    forbid(
      'no-dead-file',
      'Every source file is reached from a start: of the server, of the simulators, or of the client package.',
      { path: '^src/(main|simulators|client/index)\\.ts$' },
      {
        path: '^src/',
        pathNot: ['^src/(main|simulators|client/index)\\.ts$', '^src/generated/', '^src/kernel/database/globals\\.ts$'],
        reachable: false,
      },
    ),
    forbid('no-unresolved', 'Every import exists.', { path: '^src/' }, { couldNotResolve: true }),
    forbid(
      'no-dev-dependency',
      'The server runs without the development tools.',
      { path: '^src/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    ),
    forbid('no-cycle', 'A file can be understood before those that use it.', { path: '^src/' }, { circular: true }),
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    // The pages are a program of their own, which the build puts together (src/pages/tsconfig.json checks it).
    exclude: { path: '^src/(generated/(?!prisma/client)|pages/)' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'], extensions: ['.ts', '.js'] },
    extraExtensionsToScan: [],
  },
};
