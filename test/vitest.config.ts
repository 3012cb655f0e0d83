import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What talks to real servers, each of which has a port and a folder of its own. */
const contracts = ['test/runtimes/**/*.test.ts', 'test/frameworks/**/*.test.ts']

/** What takes longest. Vitest itself knows it only where it has run before. */
const LONGEST = [
  'runtimes/next',
  'runtimes/gateway',
  'runtimes/admin',
  'runtimes/a2a',
  'runtimes/runs',
  'runtimes/durable-host',
  'runtimes/metrics',
  'a2a/broken-store',
  'runtimes/socket',
  'runtimes/tool-servers',
  'a2a/mutations',
  'runs/broken-store',
  'runs/local-host',
].map(name => `/test/${name}.test.ts`)

/** Begins with these, so that no worker waits for one in the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex(name => moduleId.endsWith(name))
      return place === -1 ? LONGEST.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

/** Both projects share these. A contract waits for its servers for most of its time, so that there is one more than cores. */
const maxWorkers = availableParallelism() + 1

export default defineConfig({
  root: fileURLToPath(new URL('../', import.meta.url)),
  test: {
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Some try 200,000 inputs, and one core may have several of them.
    testTimeout: 60_000,
    hookTimeout: 90_000,
    tags: [
      {
        name: 'elsewhere',
        description: 'On another runtime or store than Node in memory: not for one room.',
      },
      { name: 'long', description: 'Takes so long that it is left out for one room.' },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // Runs in other processes, in a runtime of its own or in Durable Objects, where this coverage cannot see it.
      exclude: [
        'src/runtimes/**',
        'src/*/{keepers,remote,remote-*}.ts',
        'src/a2a/task-index.ts',
        'src/core/in-object.ts',
        'src/gateway/{forwarded,hibernation}.ts',
      ],
      reporter: ['text-summary', 'json', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: { lines: 95 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'contracts',
          include: contracts,
          globalSetup: ['test/runtimes/setup.ts'],
          maxWorkers,
        },
      },
      {
        extends: true,
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: contracts, maxWorkers },
      },
    ],
  },
})
