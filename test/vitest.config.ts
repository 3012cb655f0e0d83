import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('../', import.meta.url)),
  test: {
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 90_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // Runs in other processes, where this coverage cannot see it.
      exclude: ['src/runtimes/**'],
      reporter: ['text-summary', 'json', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: { lines: 95 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/runtimes/**', 'test/frameworks/**'],
          // Not one less than the cores, the default: on two cores that is one.
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'runtimes',
          include: ['test/{runtimes,frameworks}/**/*.test.ts'],
          globalSetup: ['test/runtimes/setup.ts'],
          // Real servers on few cores: one file after another, and after the unit tests.
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
