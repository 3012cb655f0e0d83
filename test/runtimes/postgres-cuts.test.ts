/**
 * A run whose connection to the database is cut at each of its messages.
 *
 * @module-tag long
 */
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { createHandler, steps, Workflow } from '../../src/index.ts'
import { postgresState } from '../../src/runtimes/postgres.ts'
import { needing } from '../needing.ts'
import { type Cut, startCuttingProxy } from './postgres/cutting-proxy.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe, it } = needing('postgresql')

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.stop())

const headers = { 'content-type': 'application/json' }

/** A service behind a proxy, whose workflow has two steps and says what each has done. */
async function service() {
  const proxy = await startCuttingProxy(server.url)
  onTestFinished(() => proxy.stop())
  const done: string[] = []
  const step = (name: string) => (input: unknown) => {
    done.push(name)
    return String(input) + name
  }
  const state = postgresState({ url: proxy.url, schema: 'cuts', max: 1 })
  const workflow = new Workflow({
    name: 'two',
    register: false,
    steps: steps().step('a', step('a')).step('b', step('b')),
  })
  const handler = createHandler({ serve: [workflow], registry: false, logger: false, state })
  onTestFinished(() => Promise.resolve(state.store.close()))
  const ask = (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1/api${path}`, init))
  const run = () => {
    const body = JSON.stringify({ input: '-', background: true })
    return ask('/workflows/two/run', { method: 'POST', headers, body })
  }
  const json = async (path: string) => (await ask(path, { headers: { accept: 'application/json' } })).json()
  return { proxy, run, json, done }
}

describe.each<Cut>(['asking', 'answering'])('a connection that is cut while %s', cut => {
  it('costs no step, no event and no end, at whichever message of a run', async () => {
    const { proxy, run, json, done } = await service()
    await run()
    proxy.cutAt(0, cut)
    await run()
    const messages = proxy.count
    expect(messages).toBeGreaterThan(2)
    for (let message = 1; message <= messages; message++) {
      done.splice(0)
      proxy.cutAt(message, cut)
      const response = await run()
      const at = `message ${message} of ${messages}`
      expect([response.status, await response.json()], at).toMatchObject([200, { text: '-ab' }])
      expect(done, at).toEqual(['a', 'b'])
      const id = response.headers.get('x-run-id')
      expect(await json(`/runs/${id}`), at).toMatchObject({ status: 'completed', result: { text: '-ab' } })
      const { events } = await json(`/runs/${id}/events`)
      const types = events.map(({ event }: { event: { type: string } }) => event.type)
      expect(types, at).toEqual(['step', 'step', 'step', 'step', 'text', 'finish'])
    }
  })
})
