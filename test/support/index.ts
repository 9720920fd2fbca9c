export { basePath, Client, exchange, type GraphQLReply, type Loose, type Raw, type Reply } from './client.js';
export { day, hour, MovableClock, minute, second } from './clock.js';
export { isPostgres, onBoth, onPostgres, onRedis } from './database.js';
export { expectGraphQLRefusal, expectRefusal } from './expect.js';
export { keepMessage, keepThread } from './messages.js';
export { expectNothingWritten, type Rows, rows } from './rows.js';
export { type Account, dataOf, type KeyClient, password, Seed } from './seed.js';
export { type Options, server, type TestServer } from './server.js';
export { toldIn } from './told.js';
