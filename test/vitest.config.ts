import { globSync, readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Tests that use real servers, each with a port and a folder of its own. */
const contracts = ['test/runtimes/**/*.test.ts', 'test/frameworks/**/*.test.ts']

/** Tests that need an install of their own above 50 MB, or many minutes: `npm run test:wide`. */
const wide = ['test/wide/*.test.ts']

/** Files that are no unit tests: contracts, and what a run that was killed left behind. */
const noUnits = [...contracts, ...wide, 'test/.tmp/**']

/** The words of tests that change or watch their whole process: its clock, globals, console, memory, folder or default registry. */
const WHOLE_PROCESS =
  /useFakeTimers|stubGlobal|stubEnv|spyOn\((console|globalThis|process|performance|Date|JSON|Array)|process\.(on|chdir)\(|setFlagsFromString|defaultRegistry|testService/

/** Unit tests that each need a process of their own. All others share processes, which saves a fifth of their time. */
const alone = globSync('test/**/*.test.ts', { cwd: root, exclude: noUnits }).filter(file =>
  WHOLE_PROCESS.test(readFileSync(`${root}${file}`, 'utf8')),
)

/** The longest tests. Vitest itself knows them only after a first run. */
const LONGEST = [
  'runtimes/next',
  'runtimes/gateway',
  'runtimes/console-chat',
  'runtimes/console-look',
  'runtimes/command',
  'runtimes/a2a',
  'runtimes/runs',
  'runtimes/going-on',
  'runtimes/approvals',
  'runtimes/admin',
  'runtimes/docs',
  // Not beside the builds of Next: a database that gets no time for five seconds counts as one that is away.
  'runtimes/postgres-contracts',
  'runtimes/files',
  'runtimes/neighbours',
  'runtimes/durable-host',
  'runtimes/tool-servers',
  'runtimes/interrupted',
  'runtimes/serverless',
  'runtimes/metrics',
  'repository/package',
  'runtimes/socket',
  'runtimes/postgres-protocols',
  'runtimes/ai-sdk-ui',
  'runs/local-host',
  'protocols/a2a/mutations',
  'protocols/a2a/broken-store',
  'http/hostile-bodies',
  'runtimes/postgres-processes',
  'runtimes/example-folders',
  'runtimes/kills',
  'runtimes/write-lock',
  'late/a2a',
  'runtimes/mcp',
  'runtimes/push-interrupted',
  'runtimes/a2a-interrupted',
  'runs/broken-store',
  'protocols/ai-sdk-ui/stream-property',
].map(name => `/test/${name}.test.ts`)

/** Starts with the longest tests, so that no worker waits for one at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex(name => moduleId.endsWith(name))
      return place === -1 ? LONGEST.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

/** The limit of both projects. Contracts mostly wait, for their servers and for time to pass, so there are more workers than cores. */
const maxWorkers = availableParallelism() * 2

const MEMORY = '/dev/shm'
const MEMORY_BYTES = 4 * 2 ** 30

/** Whether Linux has enough room in memory for files, and runs programs there. */
function hasMemory(): boolean {
  try {
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
    const isFree = mounts.some(
      line => line.startsWith(`tmpfs ${MEMORY} tmpfs rw`) && !line.includes('noexec'),
    )
    const { bavail, bsize } = statfsSync(MEMORY)
    return isFree && bavail * bsize >= MEMORY_BYTES
  } catch {
    return false
  }
}

// Every commit of a database waits for a disk, for 5 ms on some machines. No test asks whether a disk keeps what it has.
if (process.env.TMPDIR === undefined && hasMemory()) {
  process.env.DISK = tmpdir()
  process.env.TMPDIR = MEMORY
}

export default defineConfig({
  root,
  test: {
    pool: 'forks',
    globalSetup: ['test/before-all.ts'],
    sequence: { sequencer: LongestFirst },
    // Some tests try 200,000 inputs, and one core may run several tests.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    // As long as a busy machine may need.
    expect: { poll: { timeout: 30_000 } },
    tags: [
      {
        name: 'elsewhere',
        description: 'On another runtime or store than Node in memory: not for one room.',
      },
      { name: 'long', description: 'Takes so long that only `npm test -- all` runs it.' },
    ],
    coverage: {
      provider: 'custom',
      customProviderModule: 'test/coverage.ts',
      include: ['src/**/*.ts'],
      // Runs in other processes, in a runtime of its own or in Durable Objects, where this coverage cannot see it.
      exclude: [
        'src/{runtimes,command}/**',
        'src/stores/{objects,postgres,sqlite}/**',
        'src/{protocols,features,adapters}/**/{remote,remote-*}.ts',
        'src/protocols/a2a/tasks/task-index.ts',
        'src/core/in-object.ts',
        'src/protocols/event-socket/gateway/{forwarded,hibernation}.ts',
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
          include: process.env.WIDE === undefined ? contracts : wide,
          globalSetup: ['test/runtimes/setup.ts'],
          env: { VITEST_UNCOVERED: 'yes' },
          maxWorkers,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...noUnits, ...alone],
          isolate: false,
          maxWorkers,
        },
      },
      {
        extends: true,
        test: { name: 'unit-alone', include: alone, maxWorkers },
      },
    ],
  },
})
