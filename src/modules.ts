import apiKeys from './modules/apiKeys/apiKeys.module.js';
import auth from './modules/auth/auth.module.js';
import contacts from './modules/contacts/contacts.module.js';
import tags from './modules/tags/tags.module.js';
import users from './modules/users/users.module.js';

/** Every module of the product, in the order in which they may build on each other. */
export const modules = [auth, users, apiKeys, tags, contacts];
