import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/index.ts'
import { framesIn } from '../contracts/langgraph-api.ts'
import { answererOf, testApprovals, testShown } from '../frameworks/approvals.ts'
import { askerOf, testFramework } from '../frameworks/contract.ts'
import { textIn } from '../support.ts'

const framework = testFramework('langgraph', {
  listed: { description: 'Tells the weather', tools: ['get_weather'] },
  // The stream of messages does not tell why one ended.
  model: 'openai/test',
  // Its model's own reason comes with no chunk of this provider; its stream says nothing of when a call began.
  untold: ['finishReason', 'durationMs'],
  cut: 'stop',
  toolError: 'error',
  dropped: 'agent_failed',
  quiet: true,
  thinks: false,
  remembers: true,
  structured: true,
  example: 'langgraph.ts',
})

const { served } = framework

// Its middleware calls no tool at all if one of them is rejected.
testApprovals(framework, { together: true, toldOfBoth: ['too much'], namesCall: false, remembers: true })

it('asks what an interrupt asks, and goes on with the next input of the session', async () => {
  const { run } = askerOf(served)
  const session = { sessionId: 'asked' }
  const asked = await run('asking', 'delete it', session)
  expect(asked).toMatchObject({ text: 'Shall I?', finishReason: 'input_required' })
  const answered = await run('asking', 'yes', session)
  expect(answered).toMatchObject({ text: 'You answered yes', finishReason: 'stop' })
  expect(await run('asking', 'delete it')).toMatchObject({ finishReason: 'input_required' })
})

it('tells what a graph inside the graph does', async () => {
  const { text, toolCalls } = await askerOf(served).run('nested', 'weather in Oslo')
  expect(text).toMatch(/^The tool said: .*Oslo/)
  expect(toolCalls).toMatchObject([{ toolName: 'get_weather', args: { city: 'Oslo' }, agent: 'inner' }])
})

it('keeps all of a graph without a checkpointer in the session, with the graphs inside of it', async () => {
  const { run } = askerOf(served)
  const session = { sessionId: 'kept' }
  const first = await run('remembering', 'one', session)
  expect(first.text).toBe('human call 1')
  await served().restart()
  const { text } = await run('remembering', 'two', session)
  expect(text).toBe('human,ai,human call 1,call 2')
  expect((await run('remembering', 'two', { sessionId: 'other' })).text).toBe('human call 1')
  const beside = await run('remembering', 'beside', { ...session, branchFrom: first.runId })
  expect(beside.text).toBe('human,ai,human call 1,call 2')
  expect((await run('remembering', 'alone')).text).toBe('human call 1')
})

interface Snapshot {
  readonly config: { readonly configurable: { readonly checkpoint_id: string } }
}

describe('LangGraph’s interface to a graph', () => {
  const of = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', 'x-test-user': 'ann' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${served().url}/langgraph${path}`, init)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    return text
  }
  const post = async (path: string, body: object) => JSON.parse(await of('POST', path, body))
  const stateOf = async (thread: string) => JSON.parse(await of('GET', `/threads/${thread}/state`))
  const human = (content: string, id: string) => ({ messages: [{ type: 'human', content, id }] })

  it('streams its values as they are after each checkpoint, and tells the same state', async () => {
    const { thread_id: id } = await post('/threads', {})
    const run = { assistant_id: 'remembering', input: human('one', 'h1'), stream_mode: 'values' }
    const frames = framesIn(await of('POST', `/threads/${id}/runs/stream`, run))
    const values = frames.filter(({ event }) => event === 'values').map(({ data }) => data)
    const state = await stateOf(id)
    expect(values.at(-1)).toEqual(state.values)
    expect(state).toMatchObject({ next: [], tasks: [], metadata: { source: 'loop' } })
    expect(state.values.messages).toMatchObject([
      { type: 'human', id: 'h1', content: 'one' },
      { type: 'ai', content: 'human call 1' },
    ])
    const history: { values: object; metadata: { source: string } }[] = await post(`/threads/${id}/history`, {
      limit: 100,
    })
    // As on LangGraph's own server, the state before the message is not told.
    const told = history.filter(({ metadata }) => metadata.source !== 'input')
    expect(told.map(each => each.values).toReversed()).toEqual(values.slice(0, -1))
    expect(JSON.parse(await of('GET', `/threads/${id}`)).values).toEqual(state.values)
  })

  it('goes on from its checkpoints, and takes changes by hand', async () => {
    const { thread_id: id } = await post('/threads', { metadata: { graph_id: 'remembering' } })
    const ask = (content: string, more: object = {}) =>
      post(`/threads/${id}/runs/wait`, {
        assistant_id: 'remembering',
        input: human(content, content),
        ...more,
      })
    await ask('one')
    await ask('two')
    const history = await post(`/threads/${id}/history`, { limit: 100 })
    const has = (each: { values: { messages?: { id: string }[] } }) =>
      each.values.messages?.some(message => message.id === 'two')
    const { parent_checkpoint: checkpoint } = history.findLast(has)
    const edited = await ask('zwei', { checkpoint })
    const said = edited.messages.map((each: { content: string }) => each.content)
    expect(said).toEqual(['one', 'human call 1', 'zwei', 'human,ai,human call 1,call 2'])
    const values = { messages: [{ role: 'user', content: 'by the way', id: 'hand' }] }
    const changed = await post(`/threads/${id}/state`, { values, as_node: 'say' })
    const after = await stateOf(id)
    expect(after.checkpoint).toEqual(changed.checkpoint)
    expect(after.values.messages.at(-1)).toMatchObject({ type: 'human', id: 'hand' })
    await expect(ask('x', { checkpoint_id: crypto.randomUUID() })).rejects.toThrow(/^404/)
  })

  it('tells its own interrupts, and goes on with a value for each', async () => {
    const { thread_id: id } = await post('/threads', {})
    const ask = (body: object) => post(`/threads/${id}/runs/wait`, { assistant_id: 'ours', ...body })
    const { __interrupt__: told } = await ask({ input: human('delete it', 'h1') })
    const state = await stateOf(id)
    expect(state.tasks.flatMap((task: { interrupts: object[] }) => task.interrupts)).toEqual(told)
    expect(state.next.length).toBeGreaterThan(0)
    expect(told).toHaveLength(2)
    const [one, other] = told.map((each: { id: string }) => each.id)
    await expect(ask({ command: { resume: { [one]: 'yes' } } })).rejects.toThrow(/^400.*must answer all/)
    const values = await ask({ command: { resume: { [one]: 'yes', [other]: 'no' } } })
    expect(values.messages.length).toBeGreaterThan(0)
    expect((await stateOf(id)).next).toEqual([])
  })
})

describe('the thread of a graph', () => {
  const { run } = askerOf(served)
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${served().url}/api/threads/${path}`, init)
    const answer = await response.json()
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  /** A session with an id from the service: others are shown to nobody without an identity. */
  const made = async (name: string) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'agent', name }),
    }
    return (await (await fetch(`${served().url}/api/sessions`, init)).json()).id as string
  }

  it('has the state and the history that the graph tells, between its runs', async () => {
    const id = await made('remembering')
    const first = await run('remembering', 'one', { sessionId: id })
    const { checkpoint_id: firstEnd } = (await post(`remembering/${id}/state`, {})).config.configurable
    await run('remembering', 'two', { sessionId: id })
    const state = await post(`remembering/${id}/state`, {})
    expect(state).toMatchObject({
      values: { messages: [{}, {}, {}, {}] },
      next: [],
      tasks: [],
      metadata: { source: 'loop', thread_id: id },
      config: { configurable: { thread_id: id, checkpoint_ns: '' } },
    })
    const history = await post(`remembering/${id}/history`, { query: { limit: 100 } })
    expect(history).toHaveLength(8)
    expect(history[0].config).toEqual(state.config)
    expect(history[0].parentConfig).toEqual(history[1].config)
    const older = { query: { limit: 100, before: history[4].config.configurable.checkpoint_id } }
    expect(await post(`remembering/${id}/history`, older)).toEqual(history.slice(5))
    expect(await post(`remembering/${id}/state`, { at: { checkpointId: firstEnd } })).toEqual(history[4])
    await run('remembering', 'beside', { sessionId: id, branchFrom: first.runId })
    const beside = await post(`remembering/${id}/state`, {})
    expect(beside.values.messages).toHaveLength(4)
    expect(beside.values.messages[2].kwargs.content).toBe('beside')
  })

  it.each(['remembering', 'main'])('tells in a run of %s which checkpoints are stored', async name => {
    const id = await made(name)
    const events: RunEvent[] = await post(`${name}/${id}/run`, { input: 'weather in Oslo' })
    const told = events.filter(event => event.type === 'checkpoint')
    const history: Snapshot[] = await post(`${name}/${id}/history`, { query: { limit: 100 } })
    const ids = history.map(state => state.config.configurable.checkpoint_id)
    const own = told.filter(({ namespace }) => namespace === undefined)
    expect(own.map(each => each.id)).toEqual(ids.toReversed())
    expect(told.filter(({ namespace }) => namespace === 'counting')).toHaveLength(name === 'main' ? 0 : 3)
    if (name === 'remembering') expect(textIn(events)).toBe('human from outside,call 1')
    const text = events.findLastIndex(({ type }) => type === 'text')
    expect(events.slice(text).map(({ type }) => type)).toContain('checkpoint')
    // Other runs tell nothing of them.
    const init = { method: 'POST', body: JSON.stringify({ input: 'two', sessionId: id }) }
    const headers = { 'content-type': 'application/json' }
    const plain = await fetch(`${served().url}/api/agents/${name}/stream`, { ...init, headers })
    expect(await plain.text()).not.toContain('"checkpoint"')
  })

  it('takes updates, and the next run goes on with them', async () => {
    const id = await made('remembering')
    await run('remembering', 'one', { sessionId: id })
    const values = { messages: [{ role: 'user', content: 'by the way' }] }
    const config = await post(`remembering/${id}/update`, { values, how: { asNode: 'say' } })
    expect((await post(`remembering/${id}/state`, {})).config).toEqual(config)
    expect((await run('remembering', 'two', { sessionId: id })).text).toBe(
      'human,ai,human,human call 1,call 2',
    )
    const wrong = post(`remembering/${id}/update`, { values, how: { asNode: 'nobody' } })
    await expect(wrong).rejects.toThrow(/invalid_input/)
  })

  it('tells the interrupt at which it waits, and the states of graphs inside', async () => {
    const id = await made('ours')
    await run('ours', 'ask', { sessionId: id })
    const { next, tasks } = await post(`ours/${id}/state`, {})
    expect(next.toSorted()).toEqual(['one', 'two'])
    expect(tasks.flatMap((task: { interrupts: unknown[] }) => task.interrupts)).toMatchObject([
      { value: 'one?' },
      { value: { message: 'two?' } },
    ])
    const inner = await made('remembering')
    await run('remembering', 'one', { sessionId: inner })
    const at = { namespace: 'counting' }
    expect(await post(`remembering/${inner}/state`, { at })).toMatchObject({ values: { calls: 1 } })
  })

  it('is not for those who know only its id', async () => {
    await run('remembering', 'one', { sessionId: 'guessed' })
    await expect(post('remembering/guessed/state', {})).rejects.toThrow(/session_not_found/)
    await expect(post('main/guessed/state', {})).rejects.toThrow(/session_not_found/)
    expect(await post('unkept/guessed/state', {})).toBeNull()
  })
})

describe('interrupts', () => {
  const { post, run } = askerOf(served)
  const answer = answererOf(served)

  it.each(['questions', 'ours'])(
    'of %s are questions, each with its own answer, after a restart too',
    async agent => {
      const first = await run(agent, 'ask')
      const { requests = [] } = first
      expect(requests).toMatchObject([
        { id: `${first.runId}/interrupt`, kind: 'question', message: 'one?' },
        { id: `${first.runId}/interrupt#2`, kind: 'question', message: 'two?', schema: { type: 'string' } },
      ])
      await served().restart()
      const answers = requests.map(({ id }, at) => ({ id, value: `is ${at}` }))
      const [status, { text, finishReason }] = await answer(first.runId, ...answers)
      expect([status, finishReason, text]).toEqual([200, 'stop', 'One is 0. Two is 1. '])
    },
  )

  it('take no answer that was meant for another one of the same node', async () => {
    const session = { sessionId: 'payers' }
    const first = await run('twice', 'pay', session)
    const [{ id = '', message } = {}] = first.requests ?? []
    const second = await run('twice', 'yes', session)
    expect([message, second.requests?.[0]?.message]).toEqual(['pay 1?', 'pay 1000?'])
    expect(await answer(first.runId, { id, value: 'sure' })).toMatchObject([409, { code: 'not_resumable' }])
    const answers = (second.requests ?? []).map(request => ({ id: request.id, value: 'no' }))
    expect(await answer(second.runId, ...answers)).toMatchObject([200, { text: 'yes, no' }])
  })

  it('take edited arguments', async () => {
    const first = await run('shop', 'refund it edited')
    const [{ id = '', editable } = {}] = first.requests ?? []
    expect(editable).toBe(true)
    const [, { text }] = await answer(first.runId, { id, decision: 'approve', editedArgs: { order: 'C' } })
    expect(text).toBe('The tool said: refunded C')
  })

  it('say what they lack: a checkpointer, or one that survives', async () => {
    const unkept = await post('unkept/run', 'ask')
    expect([unkept.status, await unkept.json()]).toMatchObject([409, { code: 'not_resumable' }])
    const first = await run('forgetful', 'ask')
    await served().restart()
    const answers = (first.requests ?? []).map(({ id }) => ({ id, value: 'yes' }))
    expect(await answer(first.runId, ...answers)).toMatchObject([409, { code: 'not_resumable' }])
  })
})

describe('a run whose process is killed', () => {
  const { post } = askerOf(served)
  const fileOf = (name: string) => join(served().state, name)
  const done = () =>
    existsSync(fileOf('done')) ? readFileSync(fileOf('done'), 'utf8').trim().split('\n') : []
  const isAtLast = () => expect.poll(() => done().at(-1), { timeout: 30_000 }).toBe('last')
  const forget = () => {
    for (const name of ['done', 'go']) rmSync(fileOf(name), { force: true })
  }

  /** Kills the process in the last node, lets that end, and reads the run to its end. */
  async function killedInLast(id: string) {
    await isAtLast()
    await served().restartKilled()
    writeFileSync(fileOf('go'), '')
    const stream = await fetch(`${served().url}/api/runs/${id}/stream`)
    const events = await stream.text()
    const record = await (await fetch(`${served().url}/api/runs/${id}`)).json()
    return { events, record }
  }

  /** Starts a run that outlives its request, and gives its id. */
  async function idOf(path: string, body: object): Promise<string> {
    const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(`${served().url}/api/${path}`, init)).json()).id
  }

  function started(agent: string, input: string, more: object = {}): Promise<string> {
    forget()
    return idOf(`agents/${agent}/run`, { input, ...more })
  }

  it.each(['steps', 'our-steps'])(
    'goes on where the checkpointer of %s is: no node that was done runs again, and nothing is told twice',
    async agent => {
      const { events, record } = await killedInLast(await started(agent, 'Oslo'))
      expect(record).toMatchObject({
        status: 'completed',
        result: { text: 'One. Done.', toolCalls: [{ toolName: 'look_up', result: 'found Oslo' }] },
      })
      expect(done()).toEqual(['one', 'look_up Oslo', 'last', 'last'])
      const told = (type: string) => events.split(`"type":"${type}"`).length - 1
      expect([told('tool_call_start'), told('tool_call_end'), told('resumed')]).toEqual([1, 1, 1])
    },
  )

  it.each(['steps', 'our-steps'])('goes on in a thread of %s that had earlier runs', async agent => {
    const session = { sessionId: 'steady' }
    forget()
    writeFileSync(fileOf('go'), '')
    expect((await post(`${agent}/run`, 'Rome', session)).status).toBe(200)
    const { record } = await killedInLast(await started(agent, 'Paris', session))
    expect(record).toMatchObject({ result: { text: 'One. Done.', toolCalls: [{ result: 'found Paris' }] } })
    expect(done()).toEqual(['one', 'look_up Paris', 'last', 'last'])
  })

  it.each(['steps', 'our-steps'])('of %s goes on after the answer that it got', async agent => {
    const id = await started(agent, 'ask Bern')
    await (await fetch(`${served().url}/api/runs/${id}/stream`)).text()
    expect(done()).toEqual(['one', 'look_up ask Bern'])
    const answers = [{ id: `${id}/interrupt`, value: 'Yes' }]
    const { record } = await killedInLast(await idOf(`runs/${id}/answers`, { answers }))
    expect(record).toMatchObject({ status: 'completed', result: { text: 'Yes. Done.', toolCalls: [] } })
    expect(done()).toEqual(['one', 'look_up ask Bern', 'last', 'last'])
  })

  it('does no node again that was done in the step that was cut off', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ kind: 'agent', name: 'beside' })
    const session = await (await fetch(`${served().url}/api/sessions`, { ...init, body })).json()
    const id = await started('beside', 'Go', { sessionId: session.id })
    const stateOf = async () => {
      const path = `api/threads/beside/${session.id}/state`
      return (await fetch(`${served().url}/${path}`, { ...init, body: '{}' })).json()
    }
    await expect.poll(async () => (await stateOf()).next, { timeout: 30_000 }).toEqual(['last'])
    const { record } = await killedInLast(id)
    expect(record).toMatchObject({ status: 'completed', result: { text: 'Early. Last.' } })
    expect(done().toSorted()).toEqual(['early', 'last', 'last'])
    expect((await stateOf()).values.messages).toHaveLength(3)
  })

  it('fails if the checkpointer died with the process', async () => {
    const { record } = await killedInLast(await started('steps-forgotten', 'Oslo'))
    expect(record).toMatchObject({ status: 'failed', error: { code: 'not_resumable' } })
    expect(done()).toEqual(['one', 'look_up Oslo', 'last'])
  })
})

testShown(framework, 'refunded A', { value: 'A' })
