import usual from '../../jest.config.js';

/** The big numbers, one file after the other: npm run test:soak. */
export default {
  ...usual,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/soak/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  maxWorkers: 1,
};
