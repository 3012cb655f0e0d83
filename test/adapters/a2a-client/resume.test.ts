/** Runs that go on after their worker has stopped: what it kept is all that is left of it. */
import { describe, expect, it } from 'vitest'
import {
  type AgentConfig,
  type RunEvent,
  type RunOptions,
  type ServableAgent,
  textOf,
} from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { retiredSignal } from './retired.ts'
import { eventsOf, noting, remote, service } from './service.ts'

/** What is kept of a run, as a store keeps it. */
function keeping() {
  let kept: string | undefined
  return {
    read: () => (kept === undefined ? undefined : JSON.parse(kept)),
    keep(state: unknown) {
      kept = JSON.stringify(state)
    },
    state: () => JSON.parse(kept ?? '{}').state,
    /** The same for another worker: what is kept from now on here does not reach it. */
    copy() {
      const copy = keeping()
      if (kept !== undefined) copy.keep(JSON.parse(kept))
      return copy
    },
  }
}

/** A service whose agent says one half before it is let on, and the other half after that. */
function halves() {
  let goOn = () => {}
  const gate = new Promise<void>(resolve => {
    goOn = resolve
  })
  const inputs: string[] = []
  const run: AgentConfig['run'] = async function* (input) {
    inputs.push(textOf(input))
    yield 'one '
    await gate
    yield 'two'
  }
  return { ...noting(service(run)), inputs, goOn: () => goOn() }
}

const WHOLE = [{ type: 'finish', finishReason: 'stop' }]

const textIn = (events: readonly RunEvent[]) =>
  events.map(event => (event.type === 'text' ? event.text : '')).join('')

/** Starts a run that nobody reads to its end. */
async function begin(
  agent: ServableAgent,
  work: ReturnType<typeof keeping>,
  until: () => boolean,
  more: RunOptions = {},
) {
  const events = agent.stream!('hi', { runId: 'r1', work, ...more })[Symbol.asyncIterator]()
  void (async () => {
    while (!(await events.next()).done);
  })()
  await eventually(() => expect(until()).toBe(true))
  return work.copy()
}

describe('a run whose worker has stopped', () => {
  it('subscribes to its task, tells all again, and sends nothing', async () => {
    const { fetch, methods, goOn, inputs, got } = halves()
    const work = keeping()
    const left = await begin(remote({ fetch }), work, () => work.state()?.taskId !== undefined)
    const before = got.length
    const going = eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work: left })
    await eventually(() => expect(methods().slice(before)).toContain('SubscribeToTask'))
    goOn()
    const events = await going
    expect(textIn(events)).toBe('one two')
    expect(events.slice(-1)).toEqual(WHOLE)
    expect(methods().slice(before)).toEqual(['/.well-known/agent-card.json', 'SubscribeToTask'])
    expect(inputs).toEqual(['hi'])
  })

  it('reads a task that has ended meanwhile', async () => {
    const { fetch, methods, goOn, got } = halves()
    const work = keeping()
    const left = await begin(remote({ fetch }), work, () => work.state()?.taskId !== undefined)
    goOn()
    await eventually(() => expect(work.state().phase).toBe('ended'))
    const before = got.length
    const events = await eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work: left })
    expect(textIn(events)).toBe('one two')
    expect(methods().slice(before)).toEqual(['/.well-known/agent-card.json', 'SubscribeToTask', 'GetTask'])
  })

  it.each([undefined, 's'])(
    'finds the task of a message of which it knows the id alone (%s)',
    async sessionId => {
      const { fetch, methods, goOn, inputs, got } = halves()
      const work = keeping()
      let [isDeaf, hasCome] = [false, false]
      // The answer of the service never arrives.
      const deaf: typeof fetch = async (url, init) => {
        const response = await fetch(url, init)
        if (!isDeaf || init?.method !== 'POST') return response
        hasCome = true
        return new Promise(() => {})
      }
      const agent = remote({ fetch: deaf })
      // Another task of the same context.
      if (sessionId !== undefined) {
        const other = keeping()
        await begin(agent, other, () => other.state()?.taskId !== undefined, { sessionId, runId: 'r0' })
      }
      isDeaf = true
      const left = await begin(agent, work, () => hasCome, { sessionId })
      expect(left.state()).toMatchObject({ phase: 'sent', isFresh: sessionId === undefined })
      expect(left.state()).not.toHaveProperty('taskId')
      const before = got.length
      goOn()
      const events = await eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work: left })
      expect(textIn(events)).toBe('one two')
      expect(methods().slice(before, before + 3)).toEqual([
        '/.well-known/agent-card.json',
        'ListTasks',
        'SubscribeToTask',
      ])
      expect(inputs).toHaveLength(sessionId === undefined ? 1 : 2)
    },
  )

  it('waits for a service that cannot be reached for a moment', async () => {
    const { fetch, goOn } = halves()
    const work = keeping()
    const left = await begin(remote({ fetch }), work, () => work.state()?.taskId !== undefined)
    let calls = 0
    const shaky: typeof fetch = (url, init) =>
      ++calls % 2 === 1 ? Promise.reject(new TypeError('refused')) : fetch(url, init)
    goOn()
    const events = await eventsOf(remote({ fetch: shaky }), 'hi', { runId: 'r1', work: left })
    expect(textIn(events)).toBe('one two')
  })

  it('fails where nobody knows whether the message has come', async () => {
    const { fetch, methods, inputs } = halves()
    const work = keeping()
    // The request of the message never leaves.
    const mute: typeof fetch = (url, init) =>
      init?.method === 'POST' ? new Promise(() => {}) : fetch(url, init)
    const left = await begin(remote({ fetch: mute }), work, () => work.state()?.phase === 'sent')
    const going = eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work: left })
    await expect(going).rejects.toMatchObject({ code: 'interrupted' })
    expect(methods()).not.toContain('SendStreamingMessage')
    expect(inputs).toEqual([])
  })

  it('leaves the task to the next worker where the server only drains', async () => {
    const { fetch, methods, goOn } = halves()
    const { signal, retire } = retiredSignal()
    const reading = eventsOf(remote({ fetch }), 'hi', { signal }).catch(error => error)
    await eventually(() => expect(methods()).toContain('SendStreamingMessage'))
    retire()
    await reading
    goOn()
    expect(methods()).not.toContain('CancelTask')
  })

  it('has message ids that are the same in each worker, and lead to no run', async () => {
    const ids: unknown[] = []
    for (let times = 0; times < 2; times++) {
      const { fetch, got } = noting(service(() => 'hi'))
      await eventsOf(remote({ fetch }), 'hi', { runId: 'r1' })
      const { message } = got.at(-1)!.body.params as { message: { messageId: string } }
      ids.push(message.messageId)
    }
    expect(ids[1]).toBe(ids[0])
    expect(ids[0]).not.toContain('r1')
  })

  it('asks again and again, and tells what it said before no more', async () => {
    const { fetch } = noting(service(asksTwice))
    const work = keeping()
    const agent = () => remote({ fetch })
    const first = await eventsOf(agent(), 'hi', { runId: 'r1', work })
    expect(textIn(first)).toBe('a ')
    expect(requestsIn(first)).toMatchObject([{ id: 'r1/input', message: 'One?' }])
    const second = await eventsOf(agent(), 'hi', {
      ...{ runId: 'r2', work, answers: [{ id: 'r1/input', value: '1' }] },
    })
    expect(textIn(second)).toBe('b1 ')
    expect(requestsIn(second)).toMatchObject([{ id: 'r2/input#2', message: 'Two?' }])
    const third = await eventsOf(agent(), 'hi', {
      ...{ runId: 'r3', work, answers: [{ id: 'r2/input#2', value: '2' }] },
    })
    expect(textIn(third)).toBe('c2')
    expect(third.slice(-1)).toEqual(WHOLE)
  })

  it('waits on where an answer is missing', async () => {
    const { fetch, got } = noting(service(asksTwice))
    const work = keeping()
    await eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work })
    const before = got.length
    const again = await eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work, answers: [] })
    expect(requestsIn(again)).toMatchObject([{ id: 'r1/input' }])
    expect(got).toHaveLength(before)
  })

  it('answers once: the next worker finds out whether the answer has come', async () => {
    const { fetch, methods, got } = noting(service(asksTwice))
    const work = keeping()
    await eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work })
    const options = { runId: 'r2', answers: [{ id: 'r1/input', value: '1' }] }
    // The answer arrives, and nobody hears that.
    const deaf: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      return init?.method === 'POST' ? new Promise(() => {}) : response
    }
    const sends = () => methods().filter(method => method === 'SendStreamingMessage').length
    const events = remote({ fetch: deaf }).stream!('hi', { ...options, work })[Symbol.asyncIterator]()
    void events.next()
    await eventually(() => expect(sends()).toBe(2))
    const task = (work.state() as { taskId: string }).taskId
    await eventually(async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: task } })
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
      const answer = await fetch('http://remote.test/', { method: 'POST', headers, body })
      expect(await answer.text()).toContain('Two?')
    })
    const left = work.copy()
    const before = got.length
    const going = await eventsOf(remote({ fetch }), 'hi', { ...options, work: left })
    expect(textIn(going)).toBe('b1 ')
    expect(requestsIn(going)).toMatchObject([{ id: 'r2/input#2' }])
    expect(methods().slice(before)).toEqual([
      ...['/.well-known/agent-card.json', 'GetTask', 'SubscribeToTask'],
    ])
  })

  it('fails where nobody knows whether the answer has come', async () => {
    const { fetch, methods } = noting(service(asksTwice))
    const work = keeping()
    await eventsOf(remote({ fetch }), 'hi', { runId: 'r1', work })
    const options = { runId: 'r2', answers: [{ id: 'r1/input', value: '1' }] }
    const mute: typeof fetch = (url, init) =>
      init?.method === 'POST' ? new Promise(() => {}) : fetch(url, init)
    const events = remote({ fetch: mute }).stream!('hi', { ...options, work })[Symbol.asyncIterator]()
    void events.next()
    await eventually(() => expect(work.state()).toMatchObject({ phase: 'sent', sends: 2 }))
    const going = eventsOf(remote({ fetch }), 'hi', { ...options, work: work.copy() })
    await expect(going).rejects.toMatchObject({ code: 'interrupted' })
    expect(methods().filter(method => method === 'SendStreamingMessage')).toHaveLength(1)
  })
})

const asksTwice: AgentConfig['run'] = async function* (_, { ask }) {
  yield 'a '
  const one = yield* ask('one', { message: 'One?' })
  yield `b${one} `
  const two = yield* ask('two', { message: 'Two?' })
  yield `c${two}`
}

function requestsIn(events: readonly RunEvent[]) {
  const last = events.at(-1)
  return last?.type === 'finish' ? last.requests : undefined
}
