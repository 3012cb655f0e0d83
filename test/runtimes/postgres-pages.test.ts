/**
 * Pages that read a run on PostgreSQL while the process that has it is killed.
 *
 * @module-tag long
 */
import { afterAll, beforeAll, expect } from 'vitest'
import { ServableAgent } from '../../src/protocols/ag-ui-client/index.ts'
import { accept, as, ask, ended, own } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { following } from './neighbours.ts'
import { cluster } from './postgres/cluster.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe, it } = needing('postgresql')

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database?.stop())

describe('a process of three that is killed', () => {
  it('leaves each page with the end of its run, once', { timeout: 120_000 }, async context => {
    const enter = cluster(context, { url: database.url })
    const [one, ...others] = [await enter(), await enter(), await enter()]
    const owner = as(own('ann'))
    const runs = await Promise.all(
      others.map(async ({ server }) => {
        const [input, threadId] = [own('gate'), own('thread')]
        const { id } = await accept(one.server, 'agents/resumes', { input, sessionId: threadId }, owner)
        const url = `${server().url}/api/agents/resumes/ag-ui`
        const page = new ServableAgent({ url, threadId, headers: { ...owner } as Record<string, string> })
        const follower = await following(server, id, owner)
        const attached = page.connectAgent()
        await eventually(() => expect(JSON.stringify(page.messages)).toContain('before '))
        return { id, input, threadId, page, attached, follower, server }
      }),
    )
    await one.kill()
    for (const { input } of runs)
      for (const { server } of others) await ask(server, `/probe/open?gate=${input}`)
    for (const { id, page, attached, follower, server } of runs) {
      expect(await ended(server, id, owner)).toMatchObject({ status: 'completed' })
      await attached
      const messages = await follower.all
      expect(messages.map(message => Number(message.id))).toEqual(messages.map((_, index) => index + 1))
      expect(messages.filter(({ event }) => event.type === 'finish')).toEqual([messages.at(-1)])
      expect(JSON.stringify(page.messages).match(/after/g)).toHaveLength(1)
      // A page that comes later has what this one has.
      const later = new ServableAgent({ url: page.url, threadId: page.threadId, headers: page.headers })
      await later.connectAgent()
      expect(later.messages).toEqual(page.messages)
    }
  })
})
