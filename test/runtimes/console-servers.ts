/** The service of the console on the runtimes whose process reads its settings from the environment. */
import { type Runtime, startBun, startDeno, startNode } from './harness.ts'
import { entryOf } from './listeners.ts'

const entry = (runtime: string) => entryOf('console', runtime)

/** Their names, and how each is started: `SETTINGS`, `DATABASE` and `PORT` count. */
export const CONSOLES: readonly (readonly [string, (env: Record<string, string>) => Promise<Runtime>])[] = [
  ['Node', env => startNode(entry('node'), { env })],
  ['Bun', env => startBun(entry('bun'), { env })],
  [
    'Deno',
    env => {
      // The folder of a database is its own.
      const folder = env.DATABASE?.replace(/[^/]*$/, '')
      const allow = folder ? [`--allow-read=${folder}`, `--allow-write=${folder}`] : []
      return startDeno(entry('deno'), { env, names: ['DATABASE', 'SETTINGS'], allow })
    },
  ],
]
