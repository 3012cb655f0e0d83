/** What a plugin does for the sender of a request. */
import { describe, expect, it } from 'vitest'
import { toAgent } from '../../src/adapters/frameworks/index.ts'
import {
  Agent,
  bearerAuth,
  bearerIdentity,
  type Caller,
  type CoreOptions,
  callerOf,
  type Encoder,
  type LogEntry,
  memoryState,
  type Plugin,
  type PluginCore,
  type Reply,
  ServableError,
} from '../../src/core-entry.ts'
import { callerKeys, keysAuth } from '../../src/features/keys/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { identify } from '../contracts/identify.ts'
import { Graph } from '../contracts/sessions/graph.ts'
import { eventually } from '../eventually.ts'
import { speaker, untyped } from '../support.ts'
import { served } from './kit.ts'

type Work = (caller: Caller, core: PluginCore) => Promise<unknown>

const asking = new Agent({
  name: 'asking',
  register: false,
  async *run(_, { ask }) {
    yield `size ${yield* ask('size', { message: 'Which?' })}`
  },
})
const silent = new Agent({
  name: 'silent',
  register: false,
  run: (_, { signal }) =>
    new Promise<string>(resolve => signal.addEventListener('abort', () => resolve('left'))),
})

/** Does work as a caller, in an endpoint. */
function working(plugins: readonly Plugin[] = [sessions()], options: CoreOptions = {}) {
  let work: Work = async () => undefined
  let outcome: unknown
  const plugin: Plugin = {
    name: 'works',
    mount: core => ({
      routes: [
        {
          method: 'GET',
          path: '/work',
          scope: 'run',
          async endpoint(request, context) {
            outcome = await work(callerOf(core, request, context), core)
            return outcome !== null && typeof outcome === 'object' && 'respond' in outcome
              ? (outcome.respond as Reply)
              : new Response('done')
          },
        },
      ],
    }),
  }
  const asked = served([...plugins, plugin], {
    agents: { echo: speaker('echo', 'one', 'two'), asking, silent, graph: toAgent(new Graph()) },
    state: memoryState(),
    runs: { keepInput: true },
    middleware: [identify],
    ...options,
  })
  return {
    ...asked,
    /** What the work returns, or the code of its error. */
    async as<T>(
      user: string | undefined,
      doing: (caller: Caller, core: PluginCore) => Promise<T>,
    ): Promise<T> {
      work = doing
      const answer = await asked.get('/work', user === undefined ? {} : { headers: { 'x-test-user': user } })
      if (!answer.ok) return (await answer.json()).code
      return outcome as T
    },
  }
}

const start = (caller: Caller, core: PluginCore, name = 'echo', sessionId = 's') =>
  caller.start({ target: core.catalog.resolve('agent', name), input: 'hi', sessionId, isBackground: true })

describe('the runs of a caller', () => {
  it('are read, listed, run again and deleted, by their owner alone', async () => {
    const { as } = working()
    const id = await as('ann', async (caller, core) => {
      const run = await start(caller, core)
      await run.result()
      return run.id
    })
    await as('ann', async ({ runs }, core) => {
      expect(await runs.get(id)).toMatchObject({ id, status: 'completed' })
      expect(await runs.input(id)).toMatchObject({ input: 'hi', isBackground: true, answered: [] })
      expect((await runs.list()).runs.map(run => run.id)).toEqual([id])
      const page = await runs.log(id, { after: 1, limit: 1 })
      expect(page).toMatchObject({
        events: [{ id: 2, event: { type: 'text', text: 'two' } }],
        next: 2,
        ended: false,
      })
      expect((await (await runs.open(id)).result()).text).toBe('onetwo')
      const target = core.catalog.resolve('agent', 'echo')
      expect(await runs.newest({ target, id: 's' })).toMatchObject({ run: { id }, chain: [id] })
      expect(await runs.newest({ target, id: 's' }, 'failed')).toBeUndefined()
      const again = await runs.retry(id)
      expect([again.id === id, (await again.result()).text]).toEqual([false, 'onetwo'])
    })
    const others: Work[] = [
      ({ runs }) => runs.get(id),
      ({ runs }) => runs.open(id),
      ({ runs }) => runs.chain(id),
      ({ runs }) => runs.input(id),
      ({ runs }) => runs.log(id),
      ({ runs }) => runs.retry(id),
      ({ runs }) => runs.resume(id),
      ({ runs }) => runs.cancel(id),
      ({ runs }) => runs.delete(id),
      ({ runs }) => runs.answer({ id, answers: [{ id: 'x', value: 1 }] }),
    ]
    for (const other of others) expect(await as('bob', other)).toBe('run_not_found')
    expect(await as('ann', ({ runs }) => runs.resume(id))).toBe('not_resumable')
    expect(await as('ann', ({ runs }) => runs.cancel(id))).toBe('run_ended')
    await as('ann', ({ runs }) => runs.delete(id))
    expect(await as('ann', ({ runs }) => runs.get(id))).toBe('run_not_found')
    expect(await as(undefined, ({ runs }) => runs.list())).toBe('not_found')
  })

  it('go on with an answer, and can be cancelled', async () => {
    const { as } = working()
    await as('ann', async (caller, core) => {
      const run = await start(caller, core, 'asking')
      const { requests = [] } = await run.result()
      const answers = requests.map(request => ({ id: request.id, value: 5 }))
      const { started } = await caller.runs.answer({ id: run.id, answers })
      expect((await started?.result())?.text).toBe('size 5')
      const target = core.catalog.resolve('agent', 'asking')
      expect((await caller.runs.newest({ target, id: 's' }))?.chain).toEqual([run.id, started?.id])
      for (const id of [run.id, started?.id ?? ''])
        expect(await caller.runs.chain(id)).toEqual([run.id, started?.id])
      const other = await start(caller, core, 'silent', 'other')
      await caller.runs.cancel(other.id)
      await eventually(async () => expect((await caller.runs.get(other.id)).status).toBe('cancelled'))
    })
  })
})

describe('the sessions of a caller', () => {
  it('are written, read, renamed, copied and deleted', async () => {
    const { as } = working()
    await as('ann', async ({ sessions: own }, core) => {
      const session = { target: core.catalog.resolve('agent', 'echo'), id: 'w' }
      expect(await own.turns(session)).toEqual([])
      expect(await own.write(session, { input: 'a', text: 'b', messageId: 'm' })).toBe('m')
      expect(await own.turns(session)).toMatchObject([{ input: 'a', text: 'b', status: 'completed' }])
      expect(await own.rename(session, 'New')).toMatchObject({ title: 'New' })
      const copy = await own.fork(session, { title: 'Copy' })
      expect((await own.list()).sessions.map(({ id }) => id).sort()).toEqual(['w', copy.id].sort())
      await own.delete(session)
      expect(await own.turns(session)).toEqual([])
    })
    const echo = (core: PluginCore) => ({ target: core.catalog.resolve('agent', 'echo'), id: 'w' })
    expect(await as('ann', ({ sessions: own }, core) => own.delete(echo(core)))).toBe('session_not_found')
    expect(await as(undefined, ({ sessions: own }) => own.list())).toBe('not_found')
    expect(await as(undefined, ({ sessions: own }, core) => own.turns(echo(core)))).toBe('session_not_found')
  })

  it('are busy while a run is at work, and need their plugin and a state', async () => {
    const { as } = working()
    const write: Work = ({ sessions: own }, core) =>
      own.write({ target: core.catalog.resolve('agent', 'silent'), id: 's' }, { input: 'a', text: 'b' })
    const id = await as('ann', async (caller, core) => (await start(caller, core, 'silent')).id)
    await eventually(async () => expect(await as('ann', write)).toBe('session_busy'))
    await as('ann', ({ runs }) => runs.cancel(id))
    expect(await working([]).as('ann', ({ sessions: own }) => own.list())).toBe('unsupported_operation')
    const none = working([], untyped<CoreOptions>({ state: undefined, runs: {} }))
    expect(await none.as('ann', write)).toBe('runs_not_stored')
    expect(await none.as('ann', async ({ whyUnstored }) => typeof whyUnstored)).toBe('string')
  })
})

describe('the thread of a graph', () => {
  const threadOf = (caller: Caller, core: PluginCore, name = 'graph') =>
    caller.sessions.graph({ target: core.catalog.resolve('agent', name), id: 's' })
  const say = async (caller: Caller, core: PluginCore, input: string, more: object = {}) => {
    const target = core.catalog.resolve('agent', 'graph')
    const run = await caller.start({ target, input, sessionId: 's', ...more })
    return { id: run.id, text: (await run.result()).text }
  }
  const textsIn = ({ values }: { readonly values: unknown }) =>
    (values as { messages: { content: string }[] }).messages.map(({ content }) => content)

  it('is read and changed between runs, by its owner', async () => {
    const { as } = working()
    await as('ann', async (caller, core) => {
      const run = await say(caller, core, 'one')
      const thread = threadOf(caller, core)!
      const state = await thread.getState()
      expect(textsIn(state)).toEqual(['one', 'told'])
      const history = await thread.history()
      expect(history.map(textsIn)).toEqual([['one', 'told'], ['one']])
      const { thread_id, checkpoint_id: before } = state.config.configurable ?? {}
      expect(thread_id).toBe('s')
      expect((await thread.history({ before, limit: 1 })).map(textsIn)).toEqual([['one']])
      const found = await thread.history({ filter: { run_id: run.id } })
      expect(found).toHaveLength(2)
      expect(await thread.history({ filter: { run_id: 'other' } })).toEqual([])
      await thread.updateState({ messages: [{ content: 'by the way' }] })
      expect(textsIn(await thread.getState())).toEqual(['one', 'told', 'by the way'])
      expect(textsIn(await thread.getState({ checkpointId: before }))).toEqual(['one', 'told'])
      expect((await say(caller, core, 'two')).text).toBe('one, told, by the way, two')
      const wrong = thread.updateState({}, { asNode: 'nobody' })
      await expect(wrong).rejects.toMatchObject({ code: 'invalid_input', message: 'No such node' })
      expect(threadOf(caller, core, 'echo')).toBeUndefined()
    })
    await as('bob', async (caller, core) =>
      expect(await threadOf(caller, core)?.getState()).toMatchObject({ values: {} }),
    )
    expect(await as(undefined, async (caller, core) => threadOf(caller, core)?.getState())).toBe(
      'session_not_found',
    )
    const update: Work = async (caller, core) => threadOf(caller, core)?.updateState({})
    expect(await as(undefined, update)).toBe('session_not_found')
  })

  it('belongs to the last turn before it: an update of an earlier one is for branches from there', async () => {
    const { as } = working()
    await as('ann', async (caller, core) => {
      const one = await say(caller, core, 'one')
      const thread = threadOf(caller, core)!
      const [first] = await thread.history()
      await say(caller, core, 'two')
      const at = { checkpointId: first?.config.configurable?.checkpoint_id }
      await thread.updateState({ messages: [{ content: 'late' }] }, { at })
      expect((await say(caller, core, 'beside', { branchFrom: one.id })).text).toBe('one, told, late, beside')
    })
  })

  it('of a run without a session is deleted with it', async () => {
    const state = memoryState()
    const { as } = working([sessions()], { state })
    const count = () => state.store.read(tx => tx.count('state'))
    const id = await as('ann', async (caller, core) => {
      const target = core.catalog.resolve('agent', 'graph')
      const run = await caller.start({ target, input: 'ask', isBackground: true })
      await run.result()
      return run.id
    })
    expect(count()).toBe(1)
    await as('ann', ({ runs }) => runs.delete(id))
    expect([count(), state.store.read(tx => tx.count('states'))]).toEqual([0, 0])
  })

  it('takes no update while a run is at work', async () => {
    const { as } = working()
    const update: Work = async (caller, core) => threadOf(caller, core)?.updateState({})
    const id = await as('ann', async (caller, core) => {
      const target = core.catalog.resolve('agent', 'graph')
      return (await caller.start({ target, input: 'waits', sessionId: 's', isBackground: true })).id
    })
    await eventually(async () => expect(await as('ann', update)).toBe('session_busy'))
    await as('ann', ({ runs }) => runs.cancel(id))
    await eventually(async () => expect(await as('ann', update)).not.toBe('session_busy'))
  })
})

it('a stream has its head and headers, and reads runs after each other', async () => {
  const words: Encoder = { encode: ({ type }) => `data: ${type}\n\n`, continued: () => 'data: next\n\n' }
  const { as, get } = working()
  let ids: string[] = []
  await as('ann', async (caller, core) => {
    const runs = [await start(caller, core), await start(caller, core, 'echo', 'other')]
    for (const run of runs) await run.result()
    ids = runs.map(({ id }) => id)
  })
  const head = 'data: head\n\n'
  await as('ann', async caller => ({
    respond: await caller.stream(ids, words, { head, headers: { 'x-own': '1' } }),
  }))
  const answer = await get('/work', { headers: { 'x-test-user': 'ann' } })
  expect([answer.headers.get('x-own'), answer.headers.get('x-run-id')]).toEqual(['1', ids[1]])
  const sent = (await answer.text()).replaceAll('data: ', '').trim().split('\n\n')
  expect(sent).toEqual(['head', 'text', 'text', 'next', 'text', 'text', 'finish'])
  expect(await as('bob', async caller => ({ respond: await caller.stream(ids, words) }))).toBe(
    'run_not_found',
  )
})

it('may run what its key may run', async () => {
  const keys = callerKeys({ authenticate: bearerIdentity({ tokens: { admin: 'admin' } }) })
  const { post, as, get } = working([keys], { middleware: [keysAuth(keys)] })
  const body = { owner: 'ann', name: 'one', scopes: ['agent:echo'] }
  const made = await post('/api/keys', body, { headers: { authorization: 'Bearer admin' } })
  const { key } = await made.json()
  expect(made.status).toBe(201)
  let codes: unknown
  await as(undefined, async (caller, core) => {
    const check = (name: string) =>
      caller.checkMayRun(core.catalog.resolve('agent', name)).then(
        () => 'allowed',
        error => error.code,
      )
    codes = [await check('echo'), await check('silent'), caller.may('read', 'bob')]
  })
  expect(codes).toBeUndefined()
  expect((await get('/work', { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  expect(codes).toEqual(['allowed', 'insufficient_scope', false])
})

describe('errors in the form of a protocol', () => {
  const form: Plugin = {
    name: 'form',
    mount: () => ({
      routes: [{ method: 'GET', path: '/form/open', endpoint: () => new Response('open') }],
      base: {
        path: '/form',
        toError: async problem => new Response(`wrong ${problem.status}`, { status: problem.status }),
      },
    }),
  }

  it('come from middleware and for unknown paths, and for HEAD without a body', async () => {
    const auth = bearerAuth({ tokens: { secret: 'ann' } })
    const { get } = served([form], { middleware: [auth] })
    const headers = { authorization: 'Bearer secret' }
    const textOf = async (path: string, init?: RequestInit) => {
      const answer = await get(path, init)
      return [answer.status, await answer.text()]
    }
    expect(await textOf('/form/nothing')).toEqual([401, 'wrong 401'])
    expect(await textOf('/form/nothing', { headers })).toEqual([404, 'wrong 404'])
    expect(await textOf('/form/open', { headers })).toEqual([200, 'open'])
    expect(await textOf('/form/open', { headers, method: 'HEAD' })).toEqual([200, ''])
    expect(await textOf('/form/nothing', { headers, method: 'HEAD' })).toEqual([404, ''])
    const own = served([form], { middleware: [() => new Response('closed', { status: 503 })] })
    // Whoever made a response that is no problem has chosen its form.
    expect(await (await own.get('/form/nothing')).text()).toBe('closed')
  })

  it.each([
    [
      'throw',
      () => {
        throw new Error('no form')
      },
    ],
    ['reject', () => Promise.reject(new Error('no form'))],
    ['make no response', (() => undefined) as unknown as () => Response],
  ])('stay problems, and are logged, where they %s', async (_, toError) => {
    const broken: Plugin = { name: 'broken', mount: () => ({ base: { path: '/broken', toError } }) }
    const logged: LogEntry[] = []
    const { get } = served([broken], { logger: entry => void logged.push(entry) })
    const answer = await get('/broken/nothing')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: 'not_found' })
    const failed = logged.filter(({ event }) => event === 'plugin.failed')
    expect(failed).toMatchObject([{ level: 'error', requestId: answer.headers.get('x-request-id') }])
  })

  it("are of the plugin's own routes as well", async () => {
    const failing: Plugin = {
      name: 'failing',
      mount: () => ({
        routes: [
          {
            method: 'GET',
            path: '/form/fails',
            endpoint: () => {
              throw new ServableError('invalid_body', 'No')
            },
          },
        ],
        base: {
          path: '/form',
          toError: async problem => new Response(`wrong ${problem.status}`, { status: 400 }),
        },
      }),
    }
    expect(await (await served([failing], {}).get('/form/fails')).text()).toBe('wrong 400')
  })
})
