import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MAX_REQUESTS } from '../contracts/limited/service.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { needing } from '../needing.ts'
import { type Runtime, startNode, startWorkerd } from './harness.ts'
import { startPostgres } from './postgres/server.ts'

/** Asks as two clients, from 16 places, and gives what each was answered. */
async function asked(servers: readonly Runtime[]): Promise<number[][]> {
  const paths = ['/.well-known/agent-card.json', '/.well-known/agent.json']
  const ask = async (client: string, index: number) => {
    const url = servers[index % servers.length]!.url + paths[index % 2]!
    return (await fetch(url, { headers: { 'x-client': client } })).status
  }
  const answers: number[][] = []
  for (const client of ['ann', 'bob']) {
    const each = MAX_REQUESTS / 8
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async (_client, worker) => {
        const seen: number[] = []
        for (let request = 0; request < each; request++) seen.push(await ask(client, worker + request))
        return seen
      }),
    )
    answers.push(statuses.flat())
    expect(new Set(statuses.flat())).toEqual(new Set([200, 429]))
  }
  return answers
}

const startOn = (DATABASE: string) => startNode('test/contracts/limited/service.ts', { env: { DATABASE } })

it.each<[string, (folder: string) => Promise<Runtime[]>]>([
  [
    'two processes of Node with one database',
    async folder => {
      const file = join(folder, 'limits.db')
      return [await startOn(file), await startOn(file)]
    },
  ],
  [
    'workerd, with Durable Objects',
    async storage => [await startWorkerd('test/contracts/limited/service.ts', { storage })],
  ],
])('a rate limit that is shared lets as many through as it may: %s', async (_, start) => {
  const folder = await newFolder()
  const servers = await start(folder.path)
  try {
    for (const statuses of await asked(servers)) {
      expect(statuses.filter(status => status === 200)).toHaveLength(MAX_REQUESTS)
    }
  } finally {
    await Promise.all(servers.map(server => server.stop()))
    await folder.remove()
  }
})

needing('postgresql').it(
  'a rate limit that two processes share in PostgreSQL lets no more through than it may',
  async () => {
    const database = await startPostgres()
    const servers = [await startOn(database.url), await startOn(database.url)]
    try {
      for (const statuses of await asked(servers)) {
        const allowed = statuses.filter(status => status === 200).length
        expect(allowed).toBeLessThanOrEqual(MAX_REQUESTS)
        // Each process may keep a quarter of what is left to itself.
        expect(allowed).toBeGreaterThan(MAX_REQUESTS / 2)
      }
    } finally {
      await Promise.all(servers.map(server => server.stop()))
      await database.stop()
    }
  },
)
