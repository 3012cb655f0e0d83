import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MAX_REQUESTS } from '../contracts/limited.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { type Runtime, startNode, startWorkerd } from './harness.ts'

it.each<[string, (folder: string) => Promise<Runtime[]>]>([
  [
    'two processes of Node with one database',
    async folder => {
      const start = () =>
        startNode('test/runtimes/entries/limited-node.ts', { env: { DATABASE: join(folder, 'limits.db') } })
      return [await start(), await start()]
    },
  ],
  [
    'workerd, with Durable Objects',
    async storage => [await startWorkerd('test/runtimes/entries/limited-workerd.ts', { storage })],
  ],
])('a rate limit that is shared lets no more through than it may: %s', async (_, start) => {
  const folder = await newFolder()
  const servers = await start(folder.path)
  try {
    const paths = ['/.well-known/agent-card.json', '/.well-known/agent.json']
    const ask = async (client: string, index: number) => {
      const url = servers[index % servers.length]!.url + paths[index % 2]!
      return (await fetch(url, { headers: { 'x-client': client } })).status
    }
    for (const client of ['ann', 'bob']) {
      const each = MAX_REQUESTS / 8
      const statuses = await Promise.all(
        Array.from({ length: 16 }, async (_client, worker) => {
          const seen: number[] = []
          for (let request = 0; request < each; request++) seen.push(await ask(client, worker + request))
          return seen
        }),
      )
      expect(statuses.flat().filter(status => status === 200)).toHaveLength(MAX_REQUESTS)
      expect(new Set(statuses.flat())).toEqual(new Set([200, 429]))
    }
  } finally {
    await Promise.all(servers.map(server => server.stop()))
    await folder.remove()
  }
})
