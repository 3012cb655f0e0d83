import { describe, expect, it } from 'vitest'
import { expectCounted, newCount, note, readJson, transports } from '../contracts/metrics/client.ts'
import { countingCases } from '../contracts/metrics/counting.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'
import { startNode, startWorkerd } from './harness.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('metrics')

const deployments: readonly [name: string, deploy: Deploy, total: number][] = [
  ['Node, in SQLite', node, 400],
  ['Bun, in SQLite', bun, 400],
  ['Deno, in SQLite', deno, 400],
  ['workerd, in Durable Objects', workerd, 400],
]

const casesOf = (deploy: Deploy, total: number) =>
  countingCases(
    served(() => deploy('')),
    total,
  )

describe('metrics on Node, in memory', () => casesOf(nodeInMemory, 2000))

describe.each(deployments)('metrics on %s', ELSEWHERE, (_, deploy, total) => casesOf(deploy, total))

describe('metrics that are kept', () => {
  it.each([
    [
      'in SQLite',
      (path: string) =>
        startNode('test/contracts/metrics/service.ts', { env: { DATABASE: `${path}/metrics.db` } }),
    ],
    [
      'in Durable Objects',
      (storage: string) => startWorkerd('test/contracts/metrics/service.ts', { storage }),
    ],
  ])('%s outlive a restart', async (_, start) => {
    const folder = await newFolder()
    const count = newCount()
    let running: Deployment | undefined
    const server = () => running!
    for (let time = 0; time < 2; time++) {
      running = { ...(await start(folder.path)), folder: folder.path }
      const ways = await transports(server)
      for (const fate of ['answer', 'tool', 'fail'] as const) {
        for (const way of Object.values(ways)) {
          await way(fate)
          note(count, fate)
        }
      }
      await expectCounted(server, 'worker', count)
      await running.stop()
    }
    running = { ...(await start(folder.path)), folder: folder.path }
    expect((await readJson(server)).byAgent.worker?.runs).toBe(24)
    await running.stop()
    await folder.remove()
  })
})
