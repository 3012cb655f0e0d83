import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { a2aContract, a2aSmoke, type Deploy } from '../contracts/a2a.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { type Runtime, startBun, startDeno, startNode, startWorkerd } from './harness.ts'

const entry = (name: string) => `test/runtimes/entries/a2a-${name}.ts`

/** Deploys with a folder of its own, which goes when the server does. */
function stored(start: (folder: string, SETTINGS: string) => Promise<Runtime>): Deploy {
  return async settings => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-a2a-'))
    const runtime = await start(folder, settings)
    const remove = () => rm(folder, { recursive: true, force: true })
    const stop = () => runtime.stop().then(remove)
    return { ...runtime, folder, stop }
  }
}

const inMemory: Deploy = async (SETTINGS): Promise<Deployment> => ({
  ...(await startNode(entry('node'), { env: { SETTINGS } })),
  folder: undefined,
})

const environment = (folder: string, SETTINGS: string) => ({
  env: { SETTINGS, DATABASE: join(folder, 'a2a.db') },
})

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in memory': inMemory,
  'Node, in SQLite': stored((folder, settings) => startNode(entry('node'), environment(folder, settings))),
  'workerd, in Durable Objects': stored((storage, SETTINGS) =>
    startWorkerd(entry('workerd'), { storage, env: { SETTINGS } }),
  ),
}

describe.each(Object.entries(deployments))('%s', (_, deploy) => a2aContract(deploy))

const smoke: Readonly<Record<string, Deploy>> = {
  'Bun, in SQLite': stored((folder, settings) => startBun(entry('bun'), environment(folder, settings))),
  'Deno, in SQLite': stored((folder, settings) =>
    startDeno(entry('deno'), {
      ...environment(folder, settings),
      allow: [`--allow-read=${folder}`, `--allow-write=${folder}`],
    }),
  ),
}

describe.each(Object.entries(smoke))('%s', (_, deploy) => a2aSmoke(deploy))
