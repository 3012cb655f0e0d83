/** Whatever a run says, clients of Chat Completions get it once, and the stream and the answer say the same. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FinishEvent, RunEvent } from '../../../src/index.ts'
import { callIdOf } from '../../../src/protocols/models/ids.ts'
import { ChatEncoder, type Completion } from '../../../src/protocols/openai/chat/encoder.ts'
import { acts, dataIn, endings, expectSaid, played, REQUESTS, RUN_ID } from './any-run.ts'

const about: Completion = {
  ...{ runId: RUN_ID, model: 'm', createdMs: 7000, isStream: true, includesUsage: false },
  ...{ isJson: false, isStored: false, maxLength: 100_000 },
}

interface Delta {
  readonly role?: string
  readonly content?: string
  readonly reasoning_content?: string
  readonly tool_calls?: readonly {
    readonly index: number
    readonly id?: string
    readonly function: { readonly name?: string; readonly arguments: string }
  }[]
}

interface Chunk {
  readonly id: string
  readonly choices: readonly { readonly delta: Delta; readonly finish_reason: string | null }[]
  readonly usage?: object | null
  readonly error?: { readonly code: string }
}

/** A run as a stream. */
function streamed(events: readonly RunEvent[], more: Partial<Completion> = {}): string {
  const encoder = new ChatEncoder({ ...about, ...more })
  return encoder.begin() + events.map(event => encoder.encode(event)).join('')
}

interface Whole {
  readonly choices: readonly {
    readonly message: Readonly<Record<string, unknown>>
    readonly finish_reason: string
  }[]
}

/** A run as one answer; the code of one that has none. */
function answered(events: readonly RunEvent[], more: Partial<Completion> = {}) {
  const encoder = new ChatEncoder({ ...about, ...more, isStream: false })
  for (const event of events) encoder.encode(event)
  const { end } = encoder
  return end?.type === 'error' ? end.code : (encoder.answer as Whole)
}

interface Message {
  content: string
  reasoning_content: string
  readonly calls: { readonly id: string; readonly name: string; args: string }[]
}

function add(message: Message, { content = '', reasoning_content = '', tool_calls = [] }: Delta): void {
  message.content += content
  message.reasoning_content += reasoning_content
  for (const { index, id, function: told } of tool_calls) {
    if (id !== undefined) {
      expect(index).toBe(message.calls.length)
      message.calls.push({ id, name: told.name ?? '', args: '' })
    }
    message.calls[index]!.args += told.arguments
  }
}

/** What clients make of a stream: as OpenAI's SDK joins chunks. */
function joined(stream: string) {
  const { data, isDone } = dataIn(stream)
  const chunks: Chunk[] = data.map(text => JSON.parse(text))
  const message: Message = { content: '', reasoning_content: '', calls: [] }
  let reason: string | null = null
  let error: string | undefined
  for (const [at, { choices, error: failed, ...facts }] of chunks.entries()) {
    if (failed !== undefined) {
      expect([at, isDone]).toEqual([chunks.length - 1, false])
      error = failed.code
      continue
    }
    expect(facts).toMatchObject({ id: `chatcmpl-${RUN_ID}`, model: 'm', created: 7 })
    const [choice] = choices
    if (choice === undefined) {
      expect(at).toBe(chunks.length - 1)
      continue
    }
    // Nothing is said after the reason.
    expect(reason).toBeNull()
    expect(choice.delta.role).toBe(at === 0 ? 'assistant' : undefined)
    reason = choice.finish_reason
    add(message, choice.delta)
  }
  expect(isDone).toBe(reason !== null)
  expect(error === undefined).toBe(isDone)
  return { ...message, reason, error, usage: chunks.at(-1)?.usage }
}

const REASONS: Readonly<Record<string, string>> = {
  ...{ length: 'length', tool_calls: 'length', rejected: 'content_filter' },
}

describe('a completion of any run', () => {
  it('is told in order, once, and as the answer that is no stream', () => {
    fc.assert(
      fc.property(acts, endings, fc.boolean(), (all, ending, isStored) => {
        const { events } = played(all, ending, isStored)
        const told = joined(streamed(events, { isStored }))
        const whole = answered(events, { isStored })
        if (typeof whole === 'string') return void expect(told.error).toBe(whole)
        const [choice] = whole.choices
        const calls = (choice?.message.tool_calls ?? []) as { id: string; function: object }[]
        expect(calls.map(({ id, function: told }) => ({ id, ...told }))).toEqual(
          told.calls.map(({ id, name, args }) => ({ id, name, arguments: args })),
        )
        expect(choice?.message.content ?? '').toBe(told.content)
        expect(choice?.message.reasoning_content ?? '').toBe(told.reasoning_content)
        expect(choice?.finish_reason).toBe(told.reason)
      }),
      { numRuns: 1000 },
    )
  })

  it('has all text and thoughts, and of calls only those of the client', () => {
    fc.assert(
      fc.property(acts, endings, (all, ending) => {
        const body = played(all, ending, false)
        const { content, reasoning_content, calls, reason } = joined(streamed(body.events))
        expectSaid(content, body.text, ending)
        expectSaid(reasoning_content, body.thoughts, 'length')
        const asked = REQUESTS[ending] ?? []
        const ids = asked.flatMap(({ kind, toolCallId = '' }) => (kind === 'client_tool' ? toolCallId : []))
        expect(calls.map(({ id }) => id)).toEqual(ids.map(id => callIdOf(RUN_ID, id)))
        if (reason !== null) expect(reason).toBe(REASONS[ending] ?? (ids.length > 0 ? 'tool_calls' : 'stop'))
      }),
      { numRuns: 1000 },
    )
  })

  it('is the same where its run says everything again after a crash', () => {
    fc.assert(
      fc.property(acts, endings, (all, ending) => {
        // One speaker: two may come in another order after a crash.
        const alone = all.map(act => ({ ...act, lane: 0 }))
        const { events, hasResumed } = played(alone, ending, true)
        fc.pre(hasResumed)
        const smooth = played(
          alone.filter(({ op }) => op !== 'resumed'),
          ending,
          true,
        )
        expect(joined(streamed(events, { isStored: true }))).toEqual(
          joined(streamed(smooth.events, { isStored: true })),
        )
      }),
      { numRuns: 500 },
    )
  })
})

const text = (told: string): RunEvent => ({ type: 'text', text: told })
const stop = (more: Partial<FinishEvent> = {}): RunEvent => ({
  type: 'finish',
  finishReason: 'stop',
  ...more,
})

describe('a completion', () => {
  it('tells usage at the end, for who asks for it', () => {
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
    const { data } = dataIn(streamed([text('a'), stop({ usage })], { includesUsage: true }))
    const chunks: Chunk[] = data.map(each => JSON.parse(each))
    expect(chunks.map(chunk => chunk.usage)).toEqual([
      ...[null, null, null],
      { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    ])
    expect(chunks.at(-1)?.choices).toEqual([])
    for (const chunk of dataIn(streamed([text('a'), stop({ usage })])).data)
      expect(chunk).not.toContain('usage')
  })

  it.each([true, false])('is the output alone, for who asks for JSON (stored: %s)', isStored => {
    const events = [text('Let me see'), stop({ structured: { a: 'é' } })]
    expect(joined(streamed(events, { isJson: true, isStored })).content).toBe('{"a":"é"}')
    // Else only of a run that says nothing.
    expect(joined(streamed(events)).content).toBe('Let me see')
    expect(joined(streamed([stop({ structured: { a: 1 } })])).content).toBe('{"a":1}')
  })

  it('asks people as text, after what was said', () => {
    const requests = REQUESTS.several ?? []
    const ask: RunEvent = { type: 'finish', finishReason: 'input_required', requests }
    const { content, calls, reason } = joined(streamed([text('Hm.'), ask]))
    expect(content).toBe('Hm.\n\nApprove `pay`: {"amount":5}\n\nWhich?')
    expect([calls.map(({ name, args }) => [name, args]), reason]).toEqual([
      [['theirs', '{"hue":"warm"}']],
      'tool_calls',
    ])
  })

  it('that is no stream has a bound', () => {
    const encoder = new ChatEncoder({ ...about, isStream: false, maxLength: 5 })
    encoder.encode(text('12345'))
    expect(() => encoder.encode(text('6'))).toThrow(expect.objectContaining({ code: 'run_too_large' }))
  })
})
