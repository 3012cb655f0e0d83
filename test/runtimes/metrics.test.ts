import { describe, expect, it } from 'vitest'
import { expectCounted, newCount, note, readJson, transports } from '../contracts/metrics/client.ts'
import { countingCases } from '../contracts/metrics/counting.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { type Deploy, deploymentsOf, everywhere, startsOf } from './deployments.ts'

const cases = (deploy: Deploy, name: string) =>
  countingCases(
    served(() => deploy('')),
    name === 'Node, in memory' ? 2000 : 400,
  )

everywhere(deploymentsOf('metrics'), cases, cases, { title: 'metrics on ' })

describe('metrics that are kept', () => {
  const { node, workerd } = startsOf('metrics')
  it.each(Object.entries({ 'in SQLite': node, 'in Durable Objects': workerd }))(
    '%s outlive a restart',
    async (_, start) => {
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
    },
  )
})
