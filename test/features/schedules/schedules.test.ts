/** The plugin in a handler of this process. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { localState } from '../../../src/core/local-state.ts'
import {
  type Schedule,
  type ScheduleOptions,
  schedule,
  schedules,
} from '../../../src/features/schedules/plugin.ts'
import { drainOf } from '../../../src/http/drain.ts'
import {
  Agent,
  createHandler,
  type LogEntry,
  memoryState,
  platform,
  type State,
  Workflow,
} from '../../../src/index.ts'
import { beginLife } from '../../../src/runs/life.ts'
import { nextHandlers } from '../../../src/runtimes/next.ts'
import { memoryStore } from '../../../src/stores/memory.ts'

const echo = new Agent({ name: 'echo', register: false, run: input => String(input) })
const options = { cron: '* * * * *', input: 'hi', owner: 'ada' }

/** A state that outlives its process, to a handler. */
const lasting = (): State => localState({ store: memoryStore(), retention: {}, isVolatile: false })

const here = platform({ ip: '127.0.0.1' })

const serve = (list: readonly Schedule[], more: Parameters<typeof createHandler>[0] = {}) =>
  createHandler({
    ...{ registry: false, serve: [echo], state: lasting(), logger: false, plugins: [schedules(list)] },
    ...more,
  })

describe('a schedule', () => {
  it('runs an agent by its name, anything by its kind, or the servable itself', () => {
    const flow = new Workflow({ name: 'flow', register: false, run: () => 'done' })
    expect(schedule('echo', options)).toMatchObject({ name: 'echo', timezone: 'UTC', missed: 'run' })
    expect(schedule({ team: 'crew' }, options).target).toEqual({ kind: 'team', name: 'crew' })
    expect(schedule(flow, { ...options, name: 'nightly' })).toMatchObject({
      name: 'nightly',
      target: { kind: 'workflow', name: 'flow' },
    })
    expect(() => serve([schedule(flow, options)], { serve: [echo, flow] })).not.toThrow()
  })

  it.each<[string, Partial<Record<keyof ScheduleOptions | 'often', unknown>>]>([
    ['cron', { cron: 'daily' }],
    ['cron', { cron: 5 }],
    ['timezone', { timezone: 'Mars' }],
    ['input', { input: '' }],
    ['owner', { owner: '' }],
    ['owner', { owner: null }],
    ['owner', { owner: 'ada\n' }],
    ['sessionId', { sessionId: '' }],
    ['name', { name: 'a b' }],
    ['name', { name: '..' }],
    ['missed', { missed: 'later' }],
    ['often', { often: true }],
  ])('is refused for a wrong `%s`', (field, wrong) => {
    const make = () => schedule('echo', { ...options, ...wrong } as ScheduleOptions)
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(make).toThrow(field)
  })

  it.each([[undefined], [{}], [{ agent: 'a', team: 'b' }], [5]])('is refused for %o', target => {
    expect(() => schedule(target as never, options)).toThrow('`schedule` needs what it runs')
  })
})

describe('a handler', () => {
  const one = schedule('echo', options)

  it.each([
    ['a state in memory', { state: memoryState() }, 'outlives its servers'],
    ['no stored runs', { runs: { store: 'none' } }, 'needs stored runs'],
    [
      'another agent',
      { serve: [new Agent({ name: 'other', register: false, run: () => '' })] },
      'not served',
    ],
  ] as const)('refuses schedules with %s', (_, more, text) => {
    expect(() => serve([one], more as never)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(() => serve([one], more as never)).toThrow(text)
  })

  it('refuses two of one name, and what is no schedule', () => {
    expect(() => schedules([one, one])).toThrow('two schedules named `echo`')
    expect(() => schedules([options as never])).toThrow('needs an array of schedules')
    expect(() => schedules(undefined as never)).toThrow('needs an array of schedules')
  })

  it('is refused by Next, where no process serves for long', () => {
    expect(() => nextHandlers(serve([one]))).toThrow('needs a server that runs for long')
    expect(() => nextHandlers(serve([], { plugins: [] }))).not.toThrow()
  })

  it('without `authenticate` shows them to this machine alone, and says so', async () => {
    const logged: LogEntry[] = []
    const handler = serve([one], { logger: entry => void logged.push(entry) })
    expect(logged).toMatchObject([{ event: 'schedules.open' }])
    expect((await handler(new Request('http://127.0.0.1/api/schedules'), here)).status).toBe(200)
    expect((await handler(new Request('http://127.0.0.1/api/schedules'))).status).toBe(403)
    const outside = await handler(new Request('https://agents.example/api/schedules'), here)
    expect(await outside.json()).toMatchObject({ code: 'forbidden' })
    const page = new Request('http://127.0.0.1/api/schedules/echo/run', {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    })
    expect((await handler(page, here)).status).toBe(403)
  })

  it('tells the log what an administrator changes', async () => {
    const logged: LogEntry[] = []
    const handler = serve([one], { logger: entry => void logged.push(entry) })
    await handler(new Request('http://127.0.0.1/api/schedules/echo/pause', { method: 'POST' }), here)
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'schedule.act', action: 'pause', schedule: 'echo' }),
    )
  })
})

describe('the clock of a process', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const late = schedule('echo', { ...options, cron: '0 0 28 1 *' })
  const inputs: string[] = []
  const counts = new Agent({
    name: 'echo',
    register: false,
    run(input) {
      inputs.push(String(input))
      return 'ok'
    },
  })

  /** A server begins, and its first look is over. */
  const begun = async (handler: object) => {
    const end = await beginLife(handler)
    // Its own timer, and that of what expires.
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(2), { timeout: 30_000 })
    return end
  }

  it('ticks while a server serves, and has one timer for all schedules', async () => {
    inputs.length = 0
    const list = Array.from({ length: 50 }, (_, n) => schedule(counts, { ...options, name: `s${n}` }))
    const handler = serve(list, { serve: [counts] })
    await vi.advanceTimersByTimeAsync(120_000)
    expect(inputs).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    const end = await begun(handler)
    await vi.advanceTimersByTimeAsync(60_000)
    await vi.waitFor(() => expect(inputs).toHaveLength(50), { timeout: 30_000 })
    const ended = end()
    await vi.advanceTimersByTimeAsync(10_000)
    await ended
    await vi.advanceTimersByTimeAsync(300_000)
    expect(inputs).toHaveLength(50)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('claims nothing more once its server begins to close', async () => {
    inputs.length = 0
    const handler = serve([schedule(counts, options)], { serve: [counts] })
    const end = await begun(handler)
    await vi.advanceTimersByTimeAsync(60_000)
    await vi.waitFor(() => expect(inputs).toHaveLength(1), { timeout: 30_000 })
    await drainOf(handler)?.(60_000)
    await vi.advanceTimersByTimeAsync(300_000)
    expect(inputs).toHaveLength(1)
    const ended = end()
    await vi.advanceTimersByTimeAsync(10_000)
    await ended
  })

  it('waits longer than a timer can', async () => {
    inputs.length = 0
    const end = await begun(serve([late], { serve: [counts] }))
    // In steps: the timer is set again and again.
    for (let day = 0; day < 26; day++) await vi.advanceTimersByTimeAsync(24 * 3600 * 1000)
    expect(inputs).toEqual([])
    await vi.advanceTimersByTimeAsync(2 * 24 * 3600 * 1000)
    await vi.waitFor(() => expect(inputs).toEqual(['hi']), { timeout: 30_000 })
    const ended = end()
    await vi.advanceTimersByTimeAsync(10_000)
    await ended
  })
})
