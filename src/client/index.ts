/** `crm-server/client`: what a client of this server needs besides its own libraries. */
export * from './cache.js';
export * from './errors.js';
export * from './live.js';
export * from './rest.js';
export * from './resume.js';
