import { describe, expect, it } from 'vitest'
import { eventsOf, eventsOfOutcome, isOutcome, type Source } from '../../src/agents/derive.ts'
import type { RunEvent, RunInput, RunOptions, RunOutcome } from '../../src/index.ts'
import { drain } from '../support.ts'

const options = { runId: 'r' }
const text: RunEvent = { type: 'text', text: 'x' }
const finish: RunEvent = { type: 'finish', finishReason: 'stop' }

const derive = (source: Source) => drain(eventsOf(source, 'hi', options))

describe('eventsOf', () => {
  it.each<[string, Source]>([
    [
      'an async generator',
      {
        async *stream() {
          yield text
          yield finish
        },
      },
    ],
    ['an iterable', { stream: () => [text, finish] }],
    [
      'a generator',
      {
        *stream() {
          yield text
          yield finish
        },
      },
    ],
    ['a promise of an iterable', { stream: async () => [text, finish] }],
    ['a promise of an async iterable', { stream: async () => eventsOfAsync() }],
    ['a stream', { stream: () => new Blob(['x']).stream().pipeThrough(toEvents()) }],
  ])('reads %s', async (_, source) => {
    expect(await derive(source)).toEqual([text, finish])
  })

  it('prefers `stream` to `run`', async () => {
    const run = () => {
      throw new Error('not this')
    }
    expect(await derive({ run, stream: () => [text] })).toEqual([text])
  })

  it('calls the method on its object, with input and options', async () => {
    class Stateful {
      readonly seen: unknown[] = []
      run(input: RunInput, given?: RunOptions) {
        this.seen.push(input, given)
      }
    }
    const source = new Stateful()
    await derive(source)
    expect(source.seen).toEqual(['hi', options])
  })

  it.each([[undefined], [null], [5], ['text'], [{}], [Promise.resolve(5)]])(
    'refuses %s from `stream`',
    async value => {
      await expect(derive({ stream: () => value })).rejects.toMatchObject({ code: 'invalid_event' })
    },
  )

  it.each([[5], [true], [[]], [Symbol('s')], [() => {}]])('refuses %s from `run`', async value => {
    await expect(derive({ run: () => value })).rejects.toMatchObject({ code: 'invalid_event' })
  })

  it.each<[string, Source]>([
    ['run', { run: () => Promise.reject(new RangeError('no')) }],
    [
      'run',
      {
        run: () => {
          throw new RangeError('no')
        },
      },
    ],
    ['stream', { stream: () => Promise.reject(new RangeError('no')) }],
  ])('rejects with what `%s` fails with', async (_, source) => {
    await expect(derive(source)).rejects.toThrow(RangeError)
  })

  it('throws what `stream` throws', () => {
    const stream = () => {
      throw new RangeError('no')
    }
    expect(() => eventsOf({ stream }, 'hi', options)).toThrow(RangeError)
  })

  it('makes events of what `run` resolves with', async () => {
    expect(await derive({ run: async () => 'x' })).toEqual([text, finish])
    expect(await derive({ run: async () => ({ text: 'x' }) })).toEqual([text, finish])
    expect(await derive({ run: async () => undefined })).toEqual([finish])
  })
})

async function* eventsOfAsync() {
  yield text
  yield finish
}

/** Turns whatever flows through into the two events. */
function toEvents(): TransformStream<Uint8Array, RunEvent> {
  return new TransformStream({
    transform(_, controller) {
      controller.enqueue(text)
      controller.enqueue(finish)
    },
  })
}

describe('eventsOfOutcome', () => {
  const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
  const outcome: RunOutcome = {
    text: 'x',
    toolCalls: [
      { toolCallId: '1', toolName: 'add', args: { a: 1 }, result: 2 },
      { toolCallId: '2', toolName: 'bad', error: 'broken' },
    ],
    steps: [{ name: 's', status: 'completed', durationMs: 3 }],
    artifacts: [{ artifactId: 'f', parts: [] }],
    usage,
    structured: { b: 1 },
    finishReason: 'length',
  }

  it('tells everything that the outcome holds, the text before the finish', () => {
    expect([...eventsOfOutcome(outcome, true)]).toEqual([
      { type: 'step', name: 's', status: 'completed', durationMs: 3 },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'add' } },
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '{"a":1}' },
      { type: 'tool_call_end', toolCallId: '1', result: 2 },
      { type: 'tool_call_start', toolCall: { id: '2', name: 'bad' } },
      { type: 'tool_call_end', toolCallId: '2', error: 'broken' },
      { type: 'artifact', artifactId: 'f', parts: [] },
      text,
      { type: 'finish', finishReason: 'length', usage, structured: { b: 1 } },
    ])
  })

  it('leaves the text out where it has been told', () => {
    expect([...eventsOfOutcome('x', false)]).toEqual([finish])
  })
})

describe('isOutcome', () => {
  it('takes text, an object and nothing', () => {
    expect([undefined, null, '', 'x', {}].map(isOutcome)).toEqual([true, true, true, true, true])
    expect([[], 0, false, () => {}].map(isOutcome)).toEqual([false, false, false, false])
  })
})
