import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GuardsOptions, refuse, type WholeOutput } from '../../../src/features/guards/plugin.ts'
import { Agent, type RunEvent, ServableError, sequence, Team, Workflow } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { never } from '../../support.ts'
import { ask, type Body, CARD, eventsOf, guardedHandler, MASK, saying, stream, text } from './kit.ts'

const FINISH: RunEvent = { type: 'finish', finishReason: 'stop' }
const secret = '1234-5678'

const masked = (...events: readonly RunEvent[]) =>
  stream(guardedHandler(saying(...events), { onOutput: MASK }))

describe('patterns in an output', () => {
  it('are replaced in everything that is told', async () => {
    const events: RunEvent[] = [
      text(`a ${secret}`),
      { type: 'thinking', text: `b ${secret}` },
      { type: 'tool_call_start', toolCall: { id: 't', name: 'pay' } },
      { type: 'tool_call_delta', toolCallId: 't', argumentsDelta: '{"card":"1234' },
      { type: 'tool_call_delta', toolCallId: 't', argumentsDelta: '-5678","n":[1,"\\"1234\\u002d5678"]}' },
      { type: 'tool_call_ready', toolCallId: 't', args: { card: secret } },
      { type: 'tool_call_end', toolCallId: 't', result: { [secret]: [{ deep: secret }] } },
      { type: 'tool_call_start', toolCall: { id: 'u', name: 'pay' } },
      { type: 'tool_call_end', toolCallId: 'u', error: `no ${secret}`, code: 'tool_failed' },
      { type: 'step', id: 's', name: 's', status: 'started', text: secret },
      { type: 'step', id: 's', name: 's', status: 'progress', text: 'x 1234-' },
      { type: 'step', id: 's', name: 's', status: 'progress', text: '5678 y' },
      { type: 'step', id: 's', name: 's', status: 'failed', error: secret },
      {
        type: 'artifact',
        artifactId: 'f',
        name: `bill ${secret}`,
        description: secret,
        metadata: { of: secret },
        parts: [
          { type: 'text', text: secret },
          { type: 'data', data: { n: secret } },
          { type: 'file', data: 'MTIz', mimeType: 'text/plain', filename: `${secret}.txt` },
          { type: 'image', data: `https://example.com/${secret}` },
        ],
      },
      { type: 'artifact', artifactId: 'g', lastChunk: false, parts: [{ type: 'text', text: 'p 1234' }] },
      { type: 'artifact', artifactId: 'g', append: true, parts: [{ type: 'text', text: '-5678 q' }] },
      {
        type: 'message',
        parts: [
          { type: 'text', text: '1234-' },
          { type: 'text', text: '5678' },
        ],
      },
      { ...FINISH, message: `bye ${secret}`, structured: { card: secret, id: 12345678 } },
    ]
    const told = await masked(...events)
    expect(JSON.stringify(told)).not.toMatch(CARD)
    expect(JSON.stringify(told)).not.toContain('1234-')
    expect(told.map(({ type }) => type)).toEqual(expect.arrayContaining(events.map(({ type }) => type)))
    const args = told.find(event => event.type === 'tool_call_delta')
    expect(args).toMatchObject({ argumentsDelta: '{"card":"[card]","n":[1,"\\"[card]"]}' })
    expect(told).toContainEqual({
      type: 'tool_call_end',
      toolCallId: 't',
      result: { '[card]': [{ deep: '[card]' }] },
    })
    expect(told.at(-1)).toEqual({
      ...FINISH,
      message: 'bye [card]',
      structured: { card: '[card]', id: 12345678 },
    })
  })

  it('are replaced in members that nobody knows, in the result, and in errors', async () => {
    const odd = { ...text('x'), more: { of: secret } } as unknown as RunEvent
    expect(JSON.stringify(await masked(odd))).not.toContain(secret)
    const handler = guardedHandler(saying(text('1234-'), text('5678'), FINISH), { onOutput: MASK })
    expect(await (await ask(handler, 'hi')).json()).toMatchObject({ text: '[card]' })
    const throwing: Body = async function* () {
      yield text('so far')
      throw new ServableError('invalid_input', `not with ${secret}`)
    }
    const told = await stream(guardedHandler(throwing, { onOutput: MASK }))
    expect(told).toEqual([text('so far'), { type: 'error', error: 'not with [card]', code: 'invalid_input' }])
  })

  it('are replaced in requests, whose ids and digests stay', async () => {
    const events = async function* (_: unknown, { runId = '' }) {
      const request = { id: `${runId}/q`, kind: 'question', digest: 'd', message: secret, args: [secret] }
      yield { type: 'finish', finishReason: 'input_required', requests: [request] } as RunEvent
    }
    const [finish] = await stream(guardedHandler(events as Body, { onOutput: MASK }))
    expect(finish).toMatchObject({ requests: [{ digest: 'd', message: '[card]', args: ['[card]'] }] })
  })

  it('leave what others say beside it alone: each speaker has a text', async () => {
    const said = (agent: string, piece: string): RunEvent => ({ ...text(piece), agent, parentId: agent })
    const told = await masked(
      said('a', '1234'),
      said('b', 'one '),
      said('a', '-56'),
      said('b', 'two'),
      said('a', '78'),
    )
    const textOf = (agent: string) =>
      told.map(event => (event.type === 'text' && event.agent === agent ? event.text : '')).join('')
    expect(textOf('a')).toBe('[card]')
    expect(textOf('b')).toBe('one two')
  })

  it('change nothing where there is none: neither text nor any other event', async () => {
    const events: RunEvent[] = [
      { type: 'step', id: 's', name: 's', status: 'started' },
      text('Hello'),
      { type: 'tool_call_start', toolCall: { id: 't', name: 'look' } },
      { type: 'tool_call_delta', toolCallId: 't', argumentsDelta: '{ "q" : 1e3 }' },
      { type: 'tool_call_ready', toolCallId: 't', args: { q: 1000 } },
      { type: 'tool_call_end', toolCallId: 't', result: { n: [1.5, null, true, 'x'] } },
      {
        type: 'message',
        parts: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      { type: 'step', id: 's', name: 's', status: 'completed', durationMs: 1 },
      { ...FINISH, structured: { a: [1] } },
    ]
    expect(await masked(...events)).toEqual(events)
  })

  it('are found in any pieces of any text', async () => {
    const pieces = fc.array(
      fc.string({ unit: fc.constantFrom('1234', '5678', '-', ' ', 'x'), maxLength: 6 }),
      {
        maxLength: 12,
      },
    )
    await fc.assert(
      fc.asyncProperty(pieces, async said => {
        const told = await masked(...said.map(text))
        const whole = told.map(event => (event.type === 'text' ? event.text : '')).join('')
        expect(whole).toBe(said.join('').replace(new RegExp(CARD, 'g'), '[card]'))
      }),
      { numRuns: 50 },
    )
  })

  it('end the run where one is refused, and nothing of it is told', async () => {
    const options = { onOutput: { mask: [{ pattern: CARD, with: refuse('No cards here') }] } }
    const handler = guardedHandler(saying(text(`Your card: ${secret}, and more`)), options)
    const [error, ...rest] = await stream(handler)
    expect(error).toEqual({ type: 'error', error: 'No cards here', code: 'output_refused' })
    expect(rest).toEqual([])
    const answer = await ask(handler, 'hi')
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({ code: 'output_refused', error: 'No cards here' })
  })

  it('fail the run where a function throws: closed, and masked in production', async () => {
    const throwing = () => {
      throw new Error(`cannot mask ${secret}`)
    }
    const options = { onOutput: { mask: [{ pattern: CARD, with: throwing }] } }
    const entries: object[] = []
    const handler = guardedHandler(saying(text(secret)), options, {
      production: true,
      logger: entry => void entries.push(entry),
    })
    expect(await stream(handler)).toEqual([
      { type: 'error', error: 'Internal server error', code: 'guard_failed' },
    ])
    expect(entries).toContainEqual(expect.objectContaining({ event: 'run.failed', code: 'guard_failed' }))
  })

  it('cost 200,000 pieces no more than a share of looks, and pass on what was asked for', async () => {
    let asked = 0
    const many: Body = async function* () {
      for (; asked < 200_000; asked++) yield text('x')
    }
    const handler = guardedHandler(many, { onOutput: MASK })
    const answer = (await (await ask(handler, 'hi')).json()) as { text: string }
    expect(answer.text).toHaveLength(200_000)
  })

  it('fire the signal where the reader leaves, and read no further', async () => {
    const signals: AbortSignal[] = []
    let asked = 0
    const endless: Body = async function* (_, { signal }) {
      if (signal) signals.push(signal)
      for (;;) {
        asked++
        yield text('word '.repeat(100))
        if (asked > 10_000) await never()
      }
    }
    const answer = await ask(guardedHandler(endless, { onOutput: MASK }), 'hi', 'agents/tested/stream')
    const reader = answer.body!.getReader()
    await reader.read()
    const before = asked
    await reader.cancel()
    await eventually(() => expect(signals[0]?.aborted).toBe(true))
    expect(before).toBeLessThan(10_000)
  })
})

describe('what is around an agent', () => {
  it('is guarded as the team or workflow that was asked for', async () => {
    const member = new Agent({
      name: 'member',
      register: false,
      async *run() {
        yield 'one 1234-'
        yield '5678 two'
      },
    })
    const flow = new Workflow({
      name: 'flow',
      register: false,
      async *run(_, { call }) {
        const { text } = yield* call(member, 'x')
        yield `: ${text}`
      },
    })
    const team = new Team({ name: 'team', register: false, members: [member], strategy: sequence })
    const handler = guardedHandler(
      saying(),
      { onOutput: MASK, agents: { member: { onOutput: () => 'never' } } },
      {
        workflows: { flow },
        teams: { team },
      },
    )
    for (const path of ['workflows/flow/stream', 'teams/team/stream']) {
      const told = JSON.stringify(await eventsOf(await ask(handler, 'x', path)))
      expect(told).toContain('[card]')
      expect(told).not.toMatch(/1234-|5678|never/)
    }
  })

  it('is guarded where an agent fails before its first event', async () => {
    const failing: Body = () => {
      throw new ServableError('invalid_input', `not ${secret}`)
    }
    expect(await stream(guardedHandler(failing, { onOutput: MASK }))).toEqual([
      { type: 'error', error: 'not [card]', code: 'invalid_input' },
    ])
  })
})

describe('a guard of the whole output', () => {
  const whole = (body: Body, onOutput: GuardsOptions['onOutput'], more = {}) =>
    guardedHandler(body, { onOutput }, more)

  it('sees all of it before any of it is told, and lets it pass as it is', async () => {
    const seen: WholeOutput[] = []
    const events = [
      text('a'),
      { type: 'tool_call_start', toolCall: { id: 't', name: 'look' } },
      { type: 'tool_call_ready', toolCallId: 't' },
      { type: 'tool_call_end', toolCallId: 't', result: 1 },
      { type: 'message', parts: [{ type: 'text', text: 'b' }] },
      { ...FINISH, structured: { n: 1 } },
    ] as const satisfies RunEvent[]
    const handler = whole(saying(...events), output => void seen.push(output))
    expect(await stream(handler)).toEqual(events)
    expect(seen).toEqual([{ text: 'ab', structured: { n: 1 }, events }])
  })

  it('tells model calls at once: they hold no words', async () => {
    const body: Body = async function* () {
      yield text('held')
      yield { type: 'model_call', model: 'm/1' }
      await never()
    }
    const answer = await ask(
      whole(body, () => {}),
      'hi',
      'agents/tested/stream',
    )
    let told = ''
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      told += chunk
      if (told.includes('model_call')) break
    }
    expect(told).toContain('model_call')
    expect(told).not.toContain('held')
  })

  it('replaces it with a text: nothing else is told', async () => {
    const body = saying(
      text('bad'),
      { type: 'artifact', artifactId: 'a', parts: [{ type: 'text', text: 'bad' }] },
      { ...FINISH, message: 'bad', structured: { bad: 1 } },
    )
    expect(await stream(whole(body, () => 'good'))).toEqual([text('good'), FINISH])
    expect(await stream(whole(body, () => ''))).toEqual([FINISH])
  })

  it('refuses it: nothing of it is told', async () => {
    const told = await stream(whole(saying(text('bad')), async () => refuse('Not that')))
    expect(told).toEqual([{ type: 'error', error: 'Not that', code: 'output_refused' }])
  })

  it('tells nothing of a run that fails, and looks at the text of the error', async () => {
    const failing: Body = async function* () {
      yield text('bad')
      throw new ServableError('invalid_input', 'bad input')
    }
    const error = (message: string) => ({ type: 'error', error: message, code: 'invalid_input' })
    expect(await stream(whole(failing, () => {}))).toEqual([error('bad input')])
    expect(await stream(whole(failing, ({ text }) => text.replace('bad', 'good')))).toEqual([
      error('good input'),
    ])
    const saidSo = saying(text('bad'), { type: 'error', error: 'bad', code: 'invalid_input' })
    expect(await stream(whole(saidSo, () => 'good'))).toEqual([error('good')])
    expect(await stream(whole(saidSo, () => refuse('no')))).toEqual([
      { type: 'error', error: 'no', code: 'output_refused' },
    ])
  })

  it('fails the run where it throws or gives something else, or where there is too much', async () => {
    const code = async (guard: GuardsOptions['onOutput'], ...events: RunEvent[]) =>
      (await stream(whole(saying(...events), guard))).map(event => 'code' in event && event.code)
    const throwing = () => {
      throw new Error('down')
    }
    expect(await code(throwing, text('a'))).toEqual(['guard_failed'])
    expect(await code(() => 1 as never, text('a'))).toEqual(['guard_failed'])
    expect(await code({ whole: () => {}, maxLength: 10 }, text('12345'), text('678901'))).toEqual([
      'run_too_large',
    ])
    expect(await code(() => {}, { type: 'odd' } as never)).toEqual(['invalid_event'])
  })

  it('ends with the time of the run, and hears of it', async () => {
    const signals: AbortSignal[] = []
    const hanging = (_: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return never() as Promise<undefined>
    }
    const told = await stream(whole(saying(text('a')), hanging, { runs: { timeoutMs: 50 } }))
    expect(told).toMatchObject([{ type: 'error', code: 'run_timeout' }])
    expect(signals[0]?.aborted).toBe(true)
  })

  it('lets timers run while an agent that never waits is held', async () => {
    const endless: Body = async function* () {
      for (;;) yield { type: 'thinking', text: '' }
    }
    const told = await stream(whole(endless, () => {}, { runs: { timeoutMs: 50 } }))
    expect(told).toMatchObject([{ type: 'error', code: 'run_timeout' }])
    const bounded = await stream(whole(endless, () => {}, { runs: { maxEvents: 100 } }))
    expect(bounded).toMatchObject([{ type: 'error', code: 'run_too_large' }])
  })
})

describe('several guards of an output', () => {
  it('see what the one before lets through: those of the agent first', async () => {
    const handler = guardedHandler(saying(text('a')), {
      onOutput: [({ text }) => `${text}c`, ({ text }) => `${text}d`],
      agents: { tested: { onOutput: ({ text }) => `${text}b` }, other: { onOutput: () => 'never' } },
    })
    expect(await stream(handler)).toEqual([text('abcd'), FINISH])
    expect(await eventsOf(await ask(handler, 'x', 'agents/tested/stream'))).toHaveLength(2)
  })
})
