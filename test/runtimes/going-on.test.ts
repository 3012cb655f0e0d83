/**
 * Workflows whose processes die in the middle of a step go on, where nobody asks for that; and after a deploy.
 *
 * @module-tag long
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { getTask, openSend, subscribe, TONGUES } from '../contracts/a2a/client.ts'
import { messagesOf } from '../contracts/http/client.ts'
import { newFolder, onDisk } from '../contracts/run-host/folder.ts'
import { accept, ended, get, type Server } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { listening } from '../listening.ts'
import type { Effect } from './entries/kills-workflow.ts'
import { type Runtime, startWorkerd } from './harness.ts'
import { STARTS, type StartKilled } from './kills.ts'

/** In Durable Objects an alarm brings a run back, some 30 seconds later. */
const WAIT_MS = 90_000

const TIMEOUT_MS = 120_000

/** Takes the effects of steps. The first one of the name is not answered, so its step does not end. */
async function receiver(held: string) {
  const effects: Effect[] = []
  let isHeld = false
  let letGo = () => {}
  const server = createServer(async (request, response) => {
    const effect: Effect = JSON.parse(await text(request))
    effects.push(effect)
    if (effect.name === held && !isHeld) {
      isHeld = true
      letGo = () => response.end()
    } else response.end()
  })
  const { port, stop } = await listening(server)
  onTestFinished(stop)
  const seen = (name: string) =>
    eventually(() => expect(effects.map(each => each.name)).toContain(name), WAIT_MS)
  /** All are done once, but for what was held. */
  const expectOnce = (again = 1) => {
    const names = effects.map(({ name }) => name)
    const counts = ['read', 'draw', 'left', 'first', 'second', 'right', 'again', 'last'].map(
      name => names.filter(each => each === name).length,
    )
    expect(counts).toEqual([1, 1, 1, 1, 1, 1, 2 + again, 1])
    const keys = effects.filter(({ name }) => name === held).map(({ key }) => key)
    expect(new Set(keys).size).toBe(2)
  }
  return { url: `http://127.0.0.1:${port}/`, seen, expectOnce, letGo: () => letGo() }
}

/** Processes on one storage. */
async function street(start: StartKilled, EFFECTS: string) {
  const folder = await newFolder(onDisk())
  onTestFinished(folder.remove)
  return async (more: Readonly<Record<string, string>> = {}) => {
    const env = { DATABASE: `${folder.path}/runs.db`, EFFECTS, ...more }
    const runtime = await start(folder.path, { env })
    onTestFinished(() => runtime.stop())
    return runtime
  }
}

const at =
  (runtime: Runtime): Server =>
  () => ({ ...runtime, folder: undefined })

const order = (runtime: Runtime) => accept(at(runtime), 'workflows/order', { input: 'x' })

async function typesOf({ url }: Runtime, id: string): Promise<string[]> {
  const types = []
  for await (const { event } of messagesOf(await fetch(`${url}/api/runs/${id}/stream`)))
    types.push(event.type)
  return types
}

/** The run has ended well, and went on once. */
async function expectWhole(runtime: Runtime, id: string): Promise<void> {
  expect(await ended(at(runtime), id)).toMatchObject({ status: 'completed' })
  const types = await typesOf(runtime, id)
  expect(types.filter(type => type === 'resumed')).toHaveLength(1)
  expect(types.filter(type => type === 'finish' || type === 'error')).toEqual(['finish'])
}

/** Sends the workflow a message over A2A, and follows its task. */
async function task(runtime: Runtime) {
  const stream = await openSend(at(runtime), TONGUES.rest1, { agent: 'workflow/order', text: 'x' })
  const first = await stream.next()
  const id = first?.task?.id ?? ''
  const seen = [first!]
  const reading = (async () => {
    for (;;) {
      const event = await stream.next().catch(() => undefined)
      if (event === undefined) return
      seen.push(event)
    }
  })()
  /** Who followed it follows again from the last event, and has the whole answer once. */
  const expectWholeTask = async (next: Runtime) => {
    await reading
    const lastEventId = seen.at(-1)?.id
    const follow = async () => (await subscribe(at(next), TONGUES.rest1, id, { lastEventId })).rest()
    const rest = await follow().catch(() => [])
    await eventually(async () => expect((await taskOf(next)).state).toBe('completed'), WAIT_MS)
    const whole = await taskOf(next)
    expect(whole.artifacts).toHaveLength(1)
    const { text } = whole.artifacts[0]!
    expect(text).toMatch(/^x: read .*again again last \[/)
    expect(whole.history?.map(({ role }) => role)).toEqual(['user'])
    if (rest.length === 0) return
    const numbers = [...seen, ...rest].map(event => Number(event.id))
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    expect(rest.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
    let told = ''
    for (const { artifact } of [...seen, ...rest]) {
      if (artifact !== undefined) told = artifact.append ? told + artifact.text : (artifact.text ?? '')
    }
    expect(told).toBe(text)
  }
  const taskOf = (next: Runtime) => getTask(at(next), TONGUES.rest1, id)
  return { id, expectWholeTask }
}

const workerd: StartKilled = (storage, options) =>
  startWorkerd('test/runtimes/entries/kills-workerd.ts', { ...options, storage })

describe.each(Object.entries({ ...STARTS, workerd }))('a process that is killed: %s', (_, start) => {
  it('the next one goes on, though nobody asks', { timeout: TIMEOUT_MS }, async () => {
    const { url, seen, expectOnce } = await receiver('again')
    const begin = await street(start, url)
    const first = await begin()
    const { id } = await order(first)
    await seen('again')
    await first.kill()
    const next = await begin()
    await seen('last')
    expectOnce()
    await expectWhole(next, id)
  })

  it('the next one goes on with its A2A task', { timeout: TIMEOUT_MS }, async () => {
    const { url, seen, expectOnce } = await receiver('again')
    const begin = await street(start, url)
    const first = await begin()
    const { expectWholeTask } = await task(first)
    await seen('again')
    await first.kill()
    const next = await begin()
    await seen('last')
    expectOnce()
    await expectWholeTask(next)
  })
})

describe('an object that crashes', () => {
  it('goes on when its alarm rings, though nobody asks', { timeout: TIMEOUT_MS }, async () => {
    const { url, seen, expectOnce } = await receiver('again')
    const runtime = await (await street(workerd, url))()
    const { id } = await order(runtime)
    await seen('again')
    await fetch(`${runtime.url}/crash?id=${id}`)
    await seen('last')
    expectOnce()
    await expectWhole(runtime, id)
  })
})

describe.each(Object.entries(STARTS))(
  'several processes on one file, of which one is killed: %s',
  (_, start) => {
    it('exactly one of the others goes on with its run', { timeout: TIMEOUT_MS }, async () => {
      const { url, seen, expectOnce } = await receiver('again')
      const begin = await street(start, url)
      const [first, ...others] = [await begin(), await begin(), await begin()]
      const { id } = await order(first)
      await seen('again')
      await first.kill()
      await seen('last')
      for (const other of others) await expectWhole(other, id)
      expectOnce()
    })

    it('exactly one of the others goes on with its A2A task', { timeout: TIMEOUT_MS }, async () => {
      const { url, seen, expectOnce } = await receiver('again')
      const begin = await street(start, url)
      const [first, ...others] = [await begin(), await begin(), await begin()]
      const { expectWholeTask } = await task(first)
      await seen('again')
      await first.kill()
      await seen('last')
      for (const other of others) await expectWholeTask(other)
      expectOnce()
    })
  },
)

describe('a process that closes beside another', () => {
  it('leaves its A2A task to that one', { timeout: TIMEOUT_MS }, async () => {
    const { url, seen, expectOnce } = await receiver('again')
    const begin = await street(STARTS.Node, url)
    const first = await begin()
    const other = await begin()
    const { expectWholeTask } = await task(first)
    await seen('again')
    await first.stop()
    await seen('last')
    expectOnce()
    await expectWholeTask(other)
  })
})

describe('a process that is stopped', () => {
  it('is alive: nobody takes its run over, and it goes on once it is let', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const [slow, quick] = [await receiver('again'), await receiver('again')]
    const begin = await street(STARTS.Node, slow.url)
    const [stopped, killed, third] = [await begin(), await begin({ EFFECTS: quick.url }), await begin()]
    const { id } = await order(stopped)
    const lost = await order(killed)
    await slow.seen('again')
    await quick.seen('again')
    const pid = Number(/pid (\d+)/.exec(stopped.log())?.[1])
    process.kill(pid, 'SIGSTOP')
    await killed.kill()
    // By now the third one has looked for who is gone.
    await expectWhole(third, lost.id)
    expect(await get(at(third), id)).toMatchObject({ status: 'running' })
    process.kill(pid, 'SIGCONT')
    slow.letGo()
    expect(await ended(at(third), id)).toMatchObject({ status: 'completed' })
    expect(await typesOf(third, id)).not.toContain('resumed')
  })
})

describe('a deploy in the middle of a workflow', () => {
  /** The record of a run that was cut off by a deploy, after it has ended. */
  async function deployed(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>) {
    const { url, seen } = await receiver('again')
    const begin = await street(STARTS.Node, url)
    const first = await begin(before)
    const { id } = await order(first)
    await seen('again')
    await first.kill()
    return ended(at(await begin(after)), id)
  }

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['with a finished step of another name', {}, { CHANGE: 'renamed' }],
    ['with another version', { VERSION: '1' }, { VERSION: '2' }],
    ['with a version where there was none', {}, { VERSION: '1' }],
  ])('%s: the run cannot go on', async (_, before, after) => {
    const record = await deployed(before, after)
    expect(record).toMatchObject({ status: 'failed', error: { code: 'code_changed' } })
    expect(record).not.toHaveProperty('resumable')
  })

  it.each([
    ['with more steps after those that are done', {}, { CHANGE: 'longer' }, 'more last'],
    ['with the same version', { VERSION: '1' }, { VERSION: '1' }, 'again last'],
  ])('%s: the run goes on', async (_, before, after, said) => {
    const record = await deployed(before, after)
    expect(record.status).toBe('completed')
    expect(record.result?.text).toContain(said)
  })
})
