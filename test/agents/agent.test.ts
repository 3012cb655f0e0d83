import { describe, expect, it } from 'vitest'
import {
  Agent,
  type AgentConfig,
  type BusEventName,
  type BusEvents,
  type EventBus,
  type RunEvent,
  ServableError,
} from '../../src/index.ts'
import { drain, listenersOf, never, speaker, textIn, turn, untyped } from '../support.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

const agentOf = (run: AgentConfig['run'], more: Partial<AgentConfig> = {}) =>
  new Agent({ name: 'tested', register: false, ...more, run })

const NAMES: BusEventName[] = [
  'run.start',
  'run.stream.chunk',
  'run.complete',
  'run.error',
  'tool.call',
  'tool.result',
  'tool.error',
]

/** Writes down what a bus tells. */
function listenTo(bus: EventBus): { name: BusEventName; payload: BusEvents[BusEventName] }[] {
  const told: { name: BusEventName; payload: BusEvents[BusEventName] }[] = []
  for (const name of NAMES) bus.on(name, payload => told.push({ name, payload }))
  return told
}

describe('Agent', () => {
  it('joins the text that its generator yields', async () => {
    const result = await speaker('greeter', 'Hello, ', 'world').run('hi')
    expect(result).toMatchObject({
      text: 'Hello, world',
      toolCalls: [],
      usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
      structured: null,
      finishReason: 'stop',
    })
    expect(result.runId).toMatch(UUID)
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
  })

  it.each<[string, AgentConfig['run'], object]>([
    ['an async function with text', async input => `got ${input}`, { text: 'got hi' }],
    ['a plain function with text', input => `got ${input}`, { text: 'got hi' }],
    ['a function with nothing', () => {}, { text: '', finishReason: 'stop' }],
    [
      'a function with part of a result',
      async () => ({ text: 'ok', structured: { a: 1 }, finishReason: 'length' }),
      { text: 'ok', structured: { a: 1 }, finishReason: 'length' },
    ],
    [
      'an iterable that is no generator',
      () => ({ [Symbol.asyncIterator]: () => speaker('inner', 'a', 'b').stream('') }),
      { text: 'ab' },
    ],
    [
      'a generator that returns its outcome',
      async function* () {
        yield 'spoken'
        return { usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } }
      },
      { text: 'spoken', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
    ],
    [
      'a generator that returns text and has said none',
      // biome-ignore lint/correctness/useYield: this is the case.
      async function* () {
        return 'returned'
      },
      { text: 'returned' },
    ],
    [
      'a generator that says text and returns the same text',
      async function* () {
        yield 'once'
        return 'once'
      },
      { text: 'once' },
    ],
  ])('takes %s', async (_, run, expected) => {
    expect(await agentOf(run).run('hi')).toMatchObject(expected)
  })

  it('gives its text as events with one finish at the end', async () => {
    expect(await drain(speaker('greeter', 'a', 'b').stream('hi'))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('starts its function with the first `next`', async () => {
    let started = false
    const events = agentOf(() => {
      started = true
    }).stream('hi')
    await turn()
    expect(started).toBe(false)
    await events.next()
    expect(started).toBe(true)
  })

  it('tells its function what the caller said', async () => {
    const options = { sessionId: 's', userId: 'u', apiKey: 'k', runId: 'r', metadata: { a: 1 } }
    const { signal } = new AbortController()
    const seen: unknown[] = []
    const result = await agentOf((input, context) => {
      seen.push(input, context)
    }).run('hi', { ...options, signal })
    expect(seen).toEqual(['hi', expect.objectContaining(options)])
    expect(result.runId).toBe('r')
  })

  it('fires the signal of its function when the caller’s fires, when its reader leaves and when it throws', async () => {
    const signals: AbortSignal[] = []
    const agent = agentOf(async function* (input, { signal }) {
      signals.push(signal)
      yield 'one'
      if (input === 'throw') throw new Error('no')
      await never()
    })
    const leaving = new AbortController()
    await agent.stream('hi', { signal: leaving.signal }).next()
    expect(listenersOf(leaving.signal)).toBe(1)
    expect(signals[0]?.aborted).toBe(false)
    leaving.abort('gone')
    expect(signals[0]?.reason).toBe('gone')

    const { signal } = new AbortController()
    const left = agent.stream('hi', { signal })
    await left.next()
    void left.next()
    expect(signals[1]?.aborted).toBe(false)
    await left.return?.()
    expect(signals[1]?.aborted).toBe(true)
    expect(listenersOf(signal)).toBe(0)

    await expect(agent.run('throw', { signal })).rejects.toThrow('no')
    expect(signals[2]?.aborted).toBe(true)
    await agentOf(() => 'done').run('hi', { signal })
    expect(listenersOf(signal)).toBe(0)

    const before = agent.stream('hi', { signal: AbortSignal.abort('never wanted') })
    await before.next()
    expect(signals[3]?.reason).toBe('never wanted')
    await before.return?.()
  })

  it('stops at the next event where the signal of a direct run has fired', async () => {
    const caller = new AbortController()
    let closed = false
    const agent = agentOf(async function* () {
      try {
        yield 'one'
        caller.abort(new Error('gone'))
        while (true) yield 'more'
      } finally {
        closed = true
      }
    })
    await expect(agent.run('hi', { signal: caller.signal })).rejects.toThrow('gone')
    expect(closed).toBe(true)
  })

  it.each([
    ['later', () => new Promise<string>(resolve => setTimeout(resolve, 0, 'x'))],
    [
      'piece by piece',
      async function* () {
        await turn()
        yield 'x'
      },
    ],
  ])('gives nothing more once it was left while it worked: %s', async (_, body) => {
    const events = agentOf(body).stream('hi')
    const waiting = events.next()
    await events.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it('tells its bus nothing of a stream that nobody read', async () => {
    const agent = agentOf(() => 'done')
    const told = listenTo(agent.events)
    await agent.stream('hi').return?.()
    expect(told).toEqual([])
  })

  it('gives its function a run id and a signal where the caller gives none', async () => {
    const { runId } = await agentOf((_, context) => {
      expect(context.runId).toMatch(UUID)
      expect(context.signal.aborted).toBe(false)
    }).run('hi')
    expect(runId).toMatch(UUID)
  })

  it('gives nothing after a terminal event of its function', async () => {
    const events = await drain(speaker('a', { type: 'finish', finishReason: 'length' }, 'late').stream('hi'))
    expect(events).toEqual([{ type: 'finish', finishReason: 'length' }])
  })

  it('closes its generator after a terminal event, and when its reader leaves', async () => {
    let closed = 0
    const agent = agentOf(async function* (input) {
      try {
        yield input === 'end' ? { type: 'finish', finishReason: 'stop' } : 'text'
        await never()
      } finally {
        closed++
      }
    })
    await drain(agent.stream('end'))
    expect(closed).toBe(1)
    const events = agent.stream('leave')
    await events.next()
    expect(await events.return?.()).toEqual({ done: true, value: undefined })
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(closed).toBe(2)
  })

  it('rejects with what its function throws', async () => {
    const thrown = new ServableError('invalid_input', 'a city, please')
    await expect(agentOf(() => Promise.reject(thrown)).run('hi')).rejects.toBe(thrown)
    await expect(
      agentOf(() => {
        throw thrown
      }).run('hi'),
    ).rejects.toBe(thrown)
  })

  it('rejects with the code of an error event', async () => {
    const failing = speaker('a', { type: 'error', error: 'no', code: 'provider_failed' })
    await expect(failing.run('hi')).rejects.toMatchObject({ code: 'provider_failed' })
    const unknown = speaker('a', { type: 'error', error: 'no', code: 'made_up' })
    await expect(unknown.run('hi')).rejects.toMatchObject({ code: 'agent_failed' })
  })

  it.each([[[]], [5], [true], [Symbol('s')]])('refuses the outcome %s', async outcome => {
    const agent = agentOf(() => untyped(outcome))
    await expect(agent.run('hi')).rejects.toMatchObject({ code: 'invalid_event' })
  })

  it.each([[undefined], ['text'], [{}]])('refuses %s in place of its function', run => {
    expect(() => new Agent({ name: 'a', register: false, run: untyped(run) })).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('`run`') }),
    )
  })

  it('shows what lists need', () => {
    const model = { provider: 'provider-a', id: 'm' }
    const agent = agentOf(() => {}, {
      description: 'd',
      model,
      output: {},
      capabilities: ['vision'],
      tools: [{ name: 't', execute: () => {} }],
    })
    expect(agent).toMatchObject({ kind: 'agent', name: 'tested', description: 'd', model, output: {} })
    expect(agent.capabilities).toEqual(['vision'])
    expect(agent.tools.map(({ name }) => name)).toEqual(['t'])
    expect(agentOf(() => {})).toMatchObject({ tools: [], capabilities: [] })
  })
})

describe('AgentContext', () => {
  const add = {
    name: 'add',
    execute: (args: unknown) => {
      const { a, b } = args as { a: number; b: number }
      return a + b
    },
  }

  it('calls a tool and gives its result', async () => {
    const agent = agentOf(
      async function* (_, context) {
        return `${yield* context.callTool('add', { a: 1, b: 2 })}`
      },
      { tools: [add] },
    )
    const result = await agent.run('hi')
    expect(result.text).toBe('3')
    expect(result.toolCalls).toEqual([
      { toolCallId: expect.stringMatching(UUID), toolName: 'add', args: { a: 1, b: 2 }, result: 3 },
    ])
  })

  it('refuses a tool that the agent does not have', async () => {
    const agent = agentOf(async function* (_, context) {
      yield* context.callTool('constructor', {})
    })
    await expect(agent.run('hi')).rejects.toMatchObject({ code: 'invalid_options' })
  })
})

describe('Agent.events', () => {
  it('tells start, every chunk and the end', async () => {
    const agent = speaker('a', 'x', 'y', { type: 'thinking', text: 'hm' })
    const told = listenTo(agent.events)
    await agent.run('hi', { runId: 'r', sessionId: 's', userId: 'u' })
    const who = { kind: 'agent', name: 'a', runId: 'r' }
    expect(told).toEqual([
      { name: 'run.start', payload: { ...who, input: 'hi', sessionId: 's', userId: 'u' } },
      { name: 'run.stream.chunk', payload: { ...who, text: 'x' } },
      { name: 'run.stream.chunk', payload: { ...who, text: 'y' } },
      {
        name: 'run.complete',
        payload: expect.objectContaining({ ...who, finishReason: 'stop', durationMs: expect.any(Number) }),
      },
    ])
  })

  it('tells tool calls, results and errors', async () => {
    const events: RunEvent[] = [
      { type: 'tool_call_start', toolCall: { id: '1', name: 'good' } },
      { type: 'tool_call_end', toolCallId: '1', result: 5 },
      { type: 'tool_call_start', toolCall: { id: '2', name: 'bad' } },
      { type: 'tool_call_end', toolCallId: '2', error: 'broken' },
      { type: 'tool_call_end', toolCallId: '3', result: 6 },
    ]
    const agent = speaker('a', ...events)
    const told = listenTo(agent.events)
    await agent.run('hi')
    expect(told.slice(1, -1)).toMatchObject([
      { name: 'tool.call', payload: { toolCallId: '1', toolName: 'good' } },
      { name: 'tool.result', payload: { toolCallId: '1', toolName: 'good', result: 5 } },
      { name: 'tool.call', payload: { toolCallId: '2', toolName: 'bad' } },
      { name: 'tool.error', payload: { toolCallId: '2', toolName: 'bad', error: 'broken' } },
      { name: 'tool.result', payload: { toolCallId: '3', toolName: 'unknown' } },
    ])
  })

  it('tells of a failure once, with its code and without keys', async () => {
    const agent = agentOf(() => {
      throw new ServableError('provider_failed', 'key-1 and key-2 are refused')
    })
    const told = listenTo(agent.events)
    await expect(agent.run('hi', { apiKey: 'key-1', apiKeys: { '*': 'key-2' } })).rejects.toThrow()
    expect(told.map(({ name }) => name)).toEqual(['run.start', 'run.error'])
    expect(told[1]?.payload).toMatchObject({
      code: 'provider_failed',
      error: '[redacted] and [redacted] are refused',
    })
  })

  it('tells of an error event and of a tool error without keys', async () => {
    const agent = speaker(
      'a',
      { type: 'tool_call_end', toolCallId: '1', error: 'key-1 is refused' },
      { type: 'error', error: 'key-1 is refused', code: 'agent_failed' },
    )
    const told = listenTo(agent.events)
    await drain(agent.stream('hi', { apiKey: 'key-1' }))
    expect(told.map(({ name }) => name)).toEqual(['run.start', 'tool.error', 'run.error'])
    expect(JSON.stringify(told)).not.toContain('key-1')
  })

  it.each([[undefined], [null], [''], [0]])(
    'tells of a failure when the function throws %j',
    async thrown => {
      const agent = agentOf(() => {
        throw thrown
      })
      const told = listenTo(agent.events)
      await agent.run('hi').catch(() => {})
      expect(told.map(({ name }) => name)).toEqual(['run.start', 'run.error'])
    },
  )

  it('tells of a run that its reader left as cancelled', async () => {
    const agent = speaker('a', 'x', 'y')
    const told = listenTo(agent.events)
    const events = agent.stream('hi')
    await events.next()
    await events.return?.()
    expect(told.at(-1)).toMatchObject({ name: 'run.complete', payload: { finishReason: 'cancelled' } })
  })

  it('tells of a run whose signal fired as cancelled, and of a time-out as an error', async () => {
    const agent = agentOf((_, { signal }) => {
      signal.throwIfAborted()
    })
    const told = listenTo(agent.events)
    await agent.run('hi', { signal: AbortSignal.abort() }).catch(() => {})
    const late = AbortSignal.abort(new ServableError('run_timeout', 'late'))
    await agent.run('hi', { signal: late }).catch(() => {})
    expect(told.filter(({ name }) => name !== 'run.start')).toMatchObject([
      { name: 'run.complete', payload: { finishReason: 'cancelled' } },
      { name: 'run.error', payload: { code: 'run_timeout' } },
    ])
  })

  it('goes on when a listener throws', async () => {
    const agent = speaker('a', 'x')
    agent.events.on('run.stream.chunk', () => {
      throw new Error('listener')
    })
    expect(textIn(await drain(agent.stream('hi')))).toBe('x')
  })
})
