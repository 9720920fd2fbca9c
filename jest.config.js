const transform = '<rootDir>/test/support/transform.mjs';

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
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/test/soak/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/\\.'],
  globalSetup: '<rootDir>/test/support/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/support/globalTeardown.mjs',
  maxWorkers: 2,
  workerIdleMemoryLimit: '2GB',
  testTimeout: 120_000,
};
