import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Contracts whose servers have nothing in common but the machine, so that two files may run at a time. */
const contracts = [
  'test/frameworks/**/*.test.ts',
  ...['workerd', 'node', 'deno', 'bun', 'runs', 'admin', 'metrics', 'a2a', 'durable-host', 'next'].map(
    name => `test/runtimes/${name}.test.ts`,
  ),
]

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
          name: 'contracts',
          include: contracts,
          globalSetup: ['test/runtimes/setup.ts'],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'runtimes',
          include: ['test/runtimes/**/*.test.ts'],
          exclude: contracts,
          globalSetup: ['test/runtimes/setup.ts'],
          // What shares the folder of the development server, or counts connections: one file after another.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
