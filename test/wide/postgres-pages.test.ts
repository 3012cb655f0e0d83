/** Pages over each protocol, while one of three processes over PostgreSQL is killed again and again. It needs a quiet machine. */
import process from 'node:process'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { ask, own } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { startNode } from '../runtimes/harness.ts'
import { cluster, type Member } from '../runtimes/postgres/cluster.ts'
import { type Attach, type AttachedPage, PAGES } from '../runtimes/postgres/pages.ts'
import { startRoundRobin } from '../runtimes/postgres/round-robin.ts'
import { type PostgresServer, startPostgres } from '../runtimes/postgres/server.ts'

const { describe, it } = needing('postgresql')

const ROUNDS = Number(process.env.ROUNDS ?? 25)
const THREADS = 10
const NUMBERS = Array.from({ length: 60 }, (_, number) => `${number} `)
const WHOLE = NUMBERS.join('')

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database?.stop())

describe('a process of three that is killed in the middle of answers', () => {
  it('leaves each page with the whole answer and its end, once', { timeout: 1_500_000 }, async context => {
    const enterCluster = cluster(context, { url: database.url })
    const enter = () => enterCluster({}, env => startNode('test/runtimes/entries/pages-server.ts', { env }))
    const members = [await enter(), await enter(), await enter()]
    const proxy = await startRoundRobin(() => members.map(({ server }) => server().url))
    onTestFinished(proxy.stop)

    const attach = async (name: string, begin: Attach, input: string) => {
      const [threadId, user] = [own('thread'), own('user')]
      const page = await begin({ url: proxy.url, threadId, user, input, headers: { 'x-test-user': user } })
      return { name, page }
    }
    const openGate = ({ server }: Member, input: string) => ask(server, `/probe/open?gate=${input}`)

    let [wentOn, cuts] = [0, 0]
    for (let round = 0; round < ROUNDS; round++) {
      const input = own('gate')
      const attaching = Object.entries(PAGES).flatMap(([name, begin]) =>
        Array.from({ length: THREADS }, () => attach(name, begin, input)),
      )
      const pages = await Promise.all(attaching)
      const silent = () => pages.filter(({ page }) => !page.text().startsWith('0 ')).map(({ name }) => name)
      await eventually(() => expect(silent()).toEqual([]))
      for (const member of members) await openGate(member, input)
      // Each round it dies somewhere else in the answers.
      const seen = NUMBERS.slice(0, 2 + 2 * round).join('')
      await eventually(() => expect(pages.some(({ page }) => page.text().startsWith(seen))).toBe(true))
      const at = round % members.length
      await members[at]?.kill()
      members[at] = await enter()
      await openGate(members[at], input)
      const ends = await Promise.all(pages.map(({ name, page }) => shownAtEnd(name, page)))
      const wrong = ends.filter(({ text, error }) => text !== WHOLE || error !== undefined)
      expect(wrong, `round ${round}`).toEqual([])
      for (const end of ends) cuts += end.cuts
      wentOn += pages.filter(({ page }) => page.wentOn?.()).length
    }
    // Two protocols tell their pages where a run goes on, and three pages count their cuts.
    const [told, counting] = [ROUNDS * THREADS * 2, ROUNDS * THREADS * 3]
    console.log(`${ROUNDS} kills, ${wentOn} of ${told} runs went on, ${cuts} cuts of ${counting} pages`)
    expect(Math.min(wentOn, cuts)).toBeGreaterThan(ROUNDS)
  })
})

/** What a page shows once it knows the end, or after a minute. */
async function shownAtEnd(name: string, { end, text }: AttachedPage) {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(reject, 60_000, new Error('no end'))
  try {
    const cuts = await Promise.race([end, late])
    return { name, text: text(), cuts, error: undefined }
  } catch (error) {
    return { name, text: text(), cuts: 0, error: String(error) }
  } finally {
    clearTimeout(timer)
  }
}
