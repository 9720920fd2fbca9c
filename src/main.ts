import { createServer } from './app.js';
import { readConfig } from './kernel/config.js';

process.env.NODE_ENV ??= 'production';

const config = readConfig();
const server = await createServer(config);
await server.http.listen({ port: config.port, host: config.host });
server.app.log.info(`listening on http://${config.host}:${config.port}`);
