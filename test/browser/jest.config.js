import usual from '../../jest.config.js';

/** The board in a real browser: npm run test:browser. */
export default {
  ...usual,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  maxWorkers: 1,
  // The server is a process of its own, with its own database.
  globalSetup: undefined,
  globalTeardown: undefined,
};
