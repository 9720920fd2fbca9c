const transform = '<rootDir>/test/support/transform.mjs';

// What starts no server, or one on the embedded database whatever DATABASE_URL says, is the same on both databases: it runs once.
const alike = [
  ...['/test/arch/', '/test/clients/(bin|tools)\\.', '/test/faults/(retries|start)\\.', '/test/rules/egress\\.'],
  '/test/unit/(addresses|banner|crypto|fields|image|largeJson|log|metrics|pglite|query|recordTypes|turnQueue|values|zones)\\.',
];

export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': transform, '/node_modules/graphql/index\\.mjs$': transform },
  transformIgnorePatterns: ['/node_modules/(?!graphql/index\\.mjs)'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^graphql$': '<rootDir>/node_modules/graphql/index.mjs',
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/test/soak/', '/test/browser/', ...(process.env.DATABASE_URL ? alike : [])],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/\\.'],
  globalSetup: '<rootDir>/test/support/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/support/globalTeardown.mjs',
  maxWorkers: 2,
  // A worker keeps something of every file that it ran, and grows slower by it.
  workerIdleMemoryLimit: '800MB',
  testTimeout: 120_000,
};
