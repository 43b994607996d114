import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Each file of tests has a browser of its own; more at once than processors only makes each of them slower.
    poolOptions: { forks: { maxForks: 2, minForks: 1, isolate: false } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: './test/support/built.ts',
    reporters: ['default', './test/support/reporter.ts'],
  },
})
