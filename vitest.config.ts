import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Real processes start slowly when both cores are busy; a test that hangs still ends.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // So does a wait for something to come true; how fast it is, is for the benchmarks to say.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    maxWorkers: 3,
  },
});
