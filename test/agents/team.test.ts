import { describe, expect, it, vi } from 'vitest'
import {
  Agent,
  parallel,
  type RunEvent,
  type RunOptions,
  routeTo,
  ServableError,
  sequence,
  Team,
  type TeamConfig,
  type Tool,
} from '../../src/index.ts'
import { startRun } from '../../src/runs/run.ts'
import { eventually } from '../eventually.ts'
import { drain, foreign, never, speaker, terminalsIn, textIn, turn, untyped } from '../support.ts'

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }

const teamOf = (strategy: TeamConfig['strategy'], ...members: TeamConfig['members']) =>
  new Team({ name: 'desk', register: false, members, strategy })

/** A member that answers with its name around the message, and tells its usage. */
const wrapper = (name: string) =>
  new Agent({
    name,
    register: false,
    async *run(input) {
      yield `${name}(${input})`
      return { usage }
    },
  })

const ends = (name: string, finishReason: 'rejected' | 'input_required' | 'length') =>
  speaker(name, `${name} ends`, { type: 'finish', finishReason })

const stepsIn = (events: readonly RunEvent[]) =>
  events.flatMap(event => (event.type === 'step' ? [`${event.name} ${event.status}`] : []))

describe('Team', () => {
  it('shows what lists need', () => {
    const member = wrapper('a')
    const team = new Team({
      name: 't',
      description: 'd',
      register: false,
      members: [member],
      strategy: sequence,
    })
    expect(team).toMatchObject({ kind: 'team', name: 't', description: 'd', members: [member] })
  })

  it('does not change with the array that it was given', () => {
    const members = [wrapper('a')]
    const team = new Team({ name: 't', register: false, members, strategy: sequence })
    members.pop()
    expect(team.members).toHaveLength(1)
  })

  it('works by a strategy of its user', async () => {
    const team = teamOf(
      async function* (input, { call, members, runId }) {
        yield `${members.length} of ${runId}: `
        const first = yield* call('a', input)
        return { structured: { length: first.text.length } }
      },
      wrapper('a'),
      wrapper('b'),
    )
    expect(await team.run('hi', { runId: 'r' })).toMatchObject({
      text: '2 of r: a(hi)',
      structured: { length: 5 },
      steps: [{ name: 'a', status: 'completed', durationMs: expect.any(Number) }],
    })
  })

  it('fails when a strategy calls a member that it does not have', async () => {
    const team = teamOf(async function* (input, { call }) {
      yield* call('constructor', input)
    }, wrapper('a'))
    await expect(team.run('hi')).rejects.toMatchObject({ code: 'agent_failed' })
  })

  it('tells a member that fails as a failed step, then fails alike', async () => {
    const thrown = new ServableError('invalid_input', 'no')
    const failing = new Agent({ name: 'a', register: false, run: () => Promise.reject(thrown) })
    const events: RunEvent[] = []
    const reading = async () => {
      for await (const event of teamOf(sequence, failing).stream('hi')) events.push(event)
    }
    await expect(reading()).rejects.toBe(thrown)
    expect(stepsIn(events)).toEqual(['a started', 'a failed'])
  })

  it('lets a strategy go on after a member that fails', async () => {
    const team = teamOf(
      async function* (input, { call }) {
        try {
          yield* call('bad', input)
        } catch {
          yield* call('good', input)
        }
      },
      speaker('bad', { type: 'error', error: 'no', code: 'agent_failed' }),
      wrapper('good'),
    )
    const result = await team.run('hi')
    expect(result.text).toBe('good(hi)')
    expect(result.steps).toMatchObject([{ status: 'failed' }, { status: 'completed' }])
  })

  it('gives each member the key of its own provider', async () => {
    const seen: Record<string, RunOptions> = {}
    const keyed = (name: string, provider?: string) => {
      const run = (_: unknown, options: RunOptions) => void Object.assign(seen, { [name]: options })
      const model = provider === undefined ? undefined : { provider, id: 'm' }
      return new Agent({ name, register: false, run, ...(model && { model }) })
    }
    const team = teamOf(sequence, keyed('a', 'provider-a.chat'), keyed('b', 'provider-b'), keyed('c'))
    const apiKeys = { 'provider-a': 'ka', '*': 'any' }
    await team.run('hi', { apiKeys, apiKey: 'any', sessionId: 's' })
    expect(Object.values(seen).map(({ apiKey }) => apiKey)).toEqual(['ka', 'any', 'any'])
    expect(seen.b).toMatchObject({ sessionId: 's', apiKeys })
  })

  it('closes a member when its reader leaves', async () => {
    const closed = vi.fn()
    const endless = new Agent({
      name: 'a',
      register: false,
      async *run() {
        try {
          while (true) yield 'x'
        } finally {
          closed()
        }
      },
    })
    for (const strategy of [sequence, parallel, routeTo(() => 'a')]) {
      closed.mockClear()
      for await (const event of teamOf(strategy, endless).stream('hi')) if (event.type === 'text') break
      await eventually(() => expect(closed).toHaveBeenCalledTimes(1))
    }
  })

  it('accepts members that are not made by this library', async () => {
    const streamed = foreign('a', async function* () {
      yield { type: 'text', text: 'streamed ' }
    })
    const ran = untyped<Agent>({ kind: 'agent', name: 'b', run: async () => ({ text: 'ran' }) })
    expect((await teamOf(parallel, streamed, ran).run('hi')).text).toBe('streamed \n\nran')
  })

  it.each([[null], [undefined], [5], [{}], [{ type: 'made_up' }]])(
    'ends in one error when a member yields %j',
    async garbage => {
      const team = teamOf(
        sequence,
        foreign('a', async function* () {
          yield garbage
        }),
      )
      const settings = { production: false, timeoutMs: 5000, maxEvents: 100, maxLength: 1000 }
      const events = await drain(startRun({ kind: 'team', name: 't', servable: team }, 'hi', {}, settings))
      expect(terminalsIn(events)).toMatchObject([{ type: 'error' }])
    },
  )

  it.each<[string, object, string]>([
    ['no members', { members: [] }, '`members`'],
    ['members that are no array', { members: { a: wrapper('a') } }, '`members`'],
    ['a member without a name', { members: [{ run() {} }] }, '`members[0]`'],
    ['a member that is nothing', { members: [wrapper('a'), undefined] }, '`members[1]`'],
    ['a member without a method', { members: [{ name: 'a' }] }, '`a`'],
    ['two members of one name', { members: [wrapper('a'), wrapper('a')] }, '`a`'],
    ['no strategy', { strategy: undefined }, '`strategy`'],
    ['a strategy that is none', { strategy: 'route' }, '`strategy`'],
  ])('refuses %s', (_, wrong, named) => {
    const config = { name: 'desk', register: false, members: [wrapper('a')], strategy: sequence, ...wrong }
    expect(() => new Team(untyped(config))).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(named) }),
    )
  })
})

describe('routeTo', () => {
  it('gives the message to the member that it names, and its answer as the answer', async () => {
    const choose = vi.fn(async () => 'b')
    const team = teamOf(routeTo(choose), wrapper('a'), wrapper('b'))
    const result = await team.run('hi')
    expect(result).toMatchObject({ text: 'b(hi)', usage, steps: [{ name: 'b', status: 'completed' }] })
    expect(choose).toHaveBeenCalledExactlyOnceWith('hi', team.members)
  })

  it('takes over how the member ends', async () => {
    expect(
      await teamOf(
        routeTo(() => 'a'),
        ends('a', 'length'),
      ).run('hi'),
    ).toMatchObject({ finishReason: 'length' })
    const structured = speaker('a', { type: 'finish', finishReason: 'stop', structured: { a: 1 } })
    expect(
      await teamOf(
        routeTo(() => 'a'),
        structured,
      ).run('hi'),
    ).toMatchObject({ structured: { a: 1 } })
  })

  it('fails for a name that is no member', async () => {
    const team = teamOf(
      routeTo(() => untyped(undefined)),
      wrapper('a'),
    )
    await expect(team.run('hi')).rejects.toMatchObject({ code: 'agent_failed' })
  })

  it('fails with what its function throws', async () => {
    const team = teamOf(
      routeTo(() => Promise.reject(new Error('cannot choose'))),
      wrapper('a'),
    )
    await expect(team.run('hi')).rejects.toThrow('cannot choose')
  })
})

describe('sequence', () => {
  it('hands each answer to the next member, and gives the last one as the answer', async () => {
    const result = await teamOf(sequence, wrapper('a'), wrapper('b'), wrapper('c')).run('hi')
    expect(result.text).toBe('c(b(a(hi)))')
    expect(result.usage).toEqual({ promptTokens: 3, completionTokens: 6, totalTokens: 9 })
    expect(result.steps?.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('tells the answers on the way as progress', async () => {
    const events = await drain(teamOf(sequence, wrapper('a'), wrapper('b')).stream('hi'))
    expect(stepsIn(events)).toEqual(['a started', 'a progress', 'a completed', 'b started', 'b completed'])
    expect(events[1]).toMatchObject({ index: 0, text: 'a(hi)' })
    expect(textIn(events)).toBe('b(a(hi))')
  })

  it('passes on what members do beside talking', async () => {
    const thinking: RunEvent = { type: 'thinking', text: 'hm' }
    const events = await drain(teamOf(sequence, speaker('a', thinking), wrapper('b')).stream('hi'))
    expect(events[1]).toEqual({ ...thinking, agent: 'a', parentId: 'a' })
  })

  it('ends with the answer of a member that cannot go on', async () => {
    for (const reason of ['input_required', 'rejected'] as const) {
      const result = await teamOf(sequence, ends('a', reason), wrapper('b')).run('hi')
      expect(result).toMatchObject({ text: 'a ends', finishReason: reason, steps: [{ name: 'a' }] })
    }
  })

  it('goes on after a member whose answer was cut', async () => {
    expect((await teamOf(sequence, ends('a', 'length'), wrapper('b')).run('hi')).text).toBe('b(a ends)')
  })
})

describe('parallel', () => {
  /** A member that waits to be released before each thing that it says. */
  const released = (name: string, ...says: string[]) => {
    const gates = says.map(() => Promise.withResolvers<void>())
    const agent = new Agent({
      name,
      register: false,
      async *run() {
        for (const [index, text] of says.entries()) {
          await gates[index]?.promise
          yield text
        }
        return { usage }
      },
    })
    return { agent, release: () => gates.forEach(gate => void gate.resolve()) }
  }

  it('starts all members at once and keeps their answers in member order', async () => {
    const [a, b, c] = [released('a', 'a1', 'a2'), released('b', 'b1', 'b2'), released('c', 'c1')]
    const events: RunEvent[] = []
    const reading = (async () => {
      for await (const event of teamOf(parallel, a.agent, b.agent, c.agent).stream('hi')) events.push(event)
    })()
    await eventually(() => expect(stepsIn(events)).toEqual(['a started', 'b started', 'c started']))
    c.release()
    await eventually(() => expect(stepsIn(events)).toContain('c completed'))
    b.release()
    await eventually(() => expect(stepsIn(events)).toContain('b completed'))
    expect(textIn(events)).toBe('')
    a.release()
    await reading
    expect(textIn(events)).toBe('a1a2\n\nb1b2\n\nc1')
    expect(events.at(-1)).toMatchObject({
      type: 'finish',
      usage: { promptTokens: 3, completionTokens: 6, totalTokens: 9 },
    })
  })

  it('fails, and stops the others, when one member fails', async () => {
    const waiting = Promise.withResolvers<AbortSignal>()
    const patient = new Agent({
      name: 'a',
      register: false,
      run: (_, { signal }) => {
        waiting.resolve(signal)
        return never()
      },
    })
    const failing = new Agent({
      name: 'b',
      register: false,
      run: () => waiting.promise.then(() => Promise.reject(new ServableError('provider_failed', 'no'))),
    })
    const target = { kind: 'team', name: 't', servable: teamOf(parallel, patient, failing) } as const
    const settings = { production: false, timeoutMs: 20_000, maxEvents: 100, maxLength: 1e6 }
    const events = await drain(startRun(target, 'hi', {}, settings))
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'provider_failed' })
    expect((await waiting.promise).aborted).toBe(true)
  })

  it('lets the event loop turn while a member whose turn has not come talks without a pause', async () => {
    const over = Promise.withResolvers<void>()
    let turned = false
    const first = new Agent({ name: 'a', register: false, run: () => over.promise.then(() => 'first') })
    const chatter = foreign('b', async function* () {
      for (let i = 0; i < 200_000 && !turned; i++) yield { type: 'text', text: 'x' }
      over.resolve()
    })
    void turn().then(() => {
      turned = true
    })
    const settings = { production: false, timeoutMs: 20_000, maxEvents: 1e6, maxLength: 1e6 }
    const target = { kind: 'team', name: 't', servable: teamOf(parallel, first, chatter) } as const
    const reading = drain(startRun(target, 'hi', {}, settings))
    await over.promise
    expect(turned).toBe(true)
    await reading
  })
})

describe("a member's tool calls", () => {
  const add: Tool = { name: 'add', execute: () => 3 }
  const caller = (name: string) =>
    new Agent({
      name,
      register: false,
      tools: [add],
      async *run(_, context) {
        yield* context.callTool('add', {})
      },
    })

  it('say whose they are, in events and results, however deep', async () => {
    const inner = new Team({ name: 'inner', register: false, members: [caller('deep')], strategy: sequence })
    const asMember = {
      ...caller('x'),
      name: 'inner',
      kind: 'agent',
      stream: inner.stream.bind(inner),
    } as const
    const team = new Team({
      name: 't',
      register: false,
      members: [caller('a'), untyped(asMember)],
      strategy: sequence,
    })
    const events = await drain(team.stream('hi'))
    const told = events.flatMap(event =>
      event.type === 'tool_call_start' || event.type === 'tool_call_end' ? [[event.type, event.agent]] : [],
    )
    expect(told).toEqual([
      ['tool_call_start', 'a'],
      ['tool_call_end', 'a'],
      ['tool_call_start', 'deep'],
      ['tool_call_end', 'deep'],
    ])
    const { toolCalls } = await team.run('hi')
    expect(toolCalls.map(({ agent }) => agent)).toEqual(['a', 'deep'])
  })

  it('of an agent by itself say nothing of it', async () => {
    const { toolCalls } = await caller('a').run('hi')
    expect(toolCalls).toEqual([{ toolCallId: expect.any(String), toolName: 'add', args: {}, result: 3 }])
  })
})
