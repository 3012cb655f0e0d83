/**
 * Services that are killed while a remote agent works for them: the next one goes on, and sends nothing twice.
 *
 * @module-tag long
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { came } from '../contracts/a2a-client/doings.ts'
import { letGo } from '../contracts/a2a-client/holds.ts'
import { others } from '../contracts/a2a-client/others.ts'
import { newFolder, onDisk } from '../contracts/run-host/folder.ts'
import { accept, follow, get, type Server } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Start, startsOf } from './deployments.ts'
import type { Runtime } from './harness.ts'

const settings = others()

const { node: Node, bun: Bun, deno: Deno, workerd } = startsOf('a2a-client')

/** In Durable Objects an alarm brings a run back, some 30 seconds later. */
const TIMEOUT_MS = 120_000

const at =
  (runtime: Runtime): Server =>
  () => ({ ...runtime, folder: undefined })

async function expectGoesOn(start: Start, name: string): Promise<void> {
  const folder = await newFolder(onDisk())
  onTestFinished(folder.remove)
  const begin = async () => {
    const runtime = await start(folder.path, settings())
    onTestFinished(() => runtime.stop())
    return runtime
  }
  const first = await begin()
  const key = crypto.randomUUID()
  const { id } = await accept(at(first), `agents/${name}`, { input: `holds ${key}` })
  await eventually(async () => {
    const { url } = first
    const log = await fetch(`${url}/api/runs/${id}/stream`, { signal: AbortSignal.timeout(200) })
    const { value } = await log.body!.getReader().read()
    expect(new TextDecoder().decode(value)).toContain('before')
  })
  await first.kill()
  const next = await begin()
  // The next one has taken the run over, or will.
  expect(await get(at(next), id)).toMatchObject({ status: 'running' })
  letGo(key)
  const messages = await follow(at(next), id)
  const types = messages.map(({ event }) => event.type)
  const since = messages.slice(types.lastIndexOf('resumed'))
  expect(types).toContain('resumed')
  expect(since.map(({ event }) => (event.type === 'text' ? event.text : '')).join('')).toBe('before after')
  expect(types.at(-1)).toBe('finish')
  expect(came.get(`holds ${key}`)).toBe(1)
}

describe.each(Object.entries({ Node, Bun, Deno, workerd }))(
  'a service that is killed: %s',
  ELSEWHERE,
  (name, start) => {
    it.each(
      name === 'Node'
        ? ['servable-10', 'servable-03', 'reference-10', 'reference-03-quiet']
        : ['servable-10'],
    )('its run goes on with the task of %s', { timeout: TIMEOUT_MS }, way => expectGoesOn(start, way))
  },
)

describe('a service that drains', () => {
  it('leaves the task to the next one', { timeout: TIMEOUT_MS }, async () => {
    const folder = await newFolder(onDisk())
    onTestFinished(folder.remove)
    const first = await Node(folder.path, settings())
    const key = crypto.randomUUID()
    const { id } = await accept(at(first), 'agents/servable-10', { input: `holds ${key}` })
    await eventually(() => expect(came.get(`holds ${key}`)).toBe(1))
    await first.stop()
    const next = await Node(folder.path, settings())
    onTestFinished(() => next.stop())
    letGo(key)
    const messages = await follow(at(next), id)
    expect(messages.at(-1)?.event).toMatchObject({ type: 'finish', finishReason: 'stop' })
    expect(came.get(`holds ${key}`)).toBe(1)
  })
})
