import type { Meter, Span, Tracer } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { type OtelOptions, otel } from '../../../src/features/otel/plugin.ts'
import { RunSpans } from '../../../src/features/otel/run-spans.ts'
import { Agent, type LogEntry, type RunEvent, textOf, Workflow } from '../../../src/index.ts'
import { untyped } from '../../support.ts'
import { TRACEPARENT, traced } from './kit.ts'

const echo = new Agent({
  name: 'echo',
  register: false,
  async *run(input, { traceparent }) {
    yield `${textOf(input)} ${traceparent}`
  },
})

function throws(): never {
  throw new Error('not today')
}

/** A span of which one method throws. */
function spanThat(broken: string): Span {
  const span: Record<string, unknown> = {
    spanContext: () => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 }),
    isRecording: () => true,
    setAttribute: () => {},
    setAttributes: () => {},
    setStatus: () => {},
    end: () => {},
  }
  return untyped<Span>({ ...span, [broken]: throws })
}

describe('a tracer that throws', () => {
  const tracerOf = (span: () => Span) => untyped<Tracer>({ startSpan: span })

  it.each<readonly [string, Tracer]>([
    ['when a span starts', tracerOf(throws)],
    ...['spanContext', 'setAttribute', 'setAttributes', 'end'].map(
      method => [`from \`${method}\``, tracerOf(() => spanThat(method))] as const,
    ),
  ])('%s changes no run, and is told once', async (_, tracer) => {
    const logged: LogEntry[] = []
    const { run } = traced([echo], {
      otel: { tracer, contents: true },
      logger: entry => void (entry.event === 'observer.failed' && logged.push(entry)),
    })
    const answer = await run('agents/echo', { input: 'hi' }, { traceparent: TRACEPARENT })
    expect(answer).toMatchObject({ text: expect.stringMatching(/^hi 00-/), finishReason: 'stop' })
    expect(logged).toMatchObject([{ plugin: 'otel' }])
  })

  it('leaves the run where the client is', async () => {
    const { run } = traced([echo], { otel: { tracer: tracerOf(throws) } })
    expect(await run('agents/echo', { input: 'hi' }, { traceparent: TRACEPARENT })).toMatchObject({
      text: `hi ${TRACEPARENT}`,
    })
  })
})

describe('what cannot be sent', () => {
  it('is told to the log, and changes no run', async () => {
    const logged: LogEntry[] = []
    const { run } = traced([echo], {
      otel: { flush: () => Promise.reject(new Error('no collector')) },
      logger: entry => void (entry.event === 'traces.failed' && logged.push(entry)),
    })
    expect(await run('agents/echo', { input: 'hi' })).toMatchObject({ finishReason: 'stop' })
    await expect.poll(() => logged.length).toBe(1)
  })
})

describe('a run of many events', () => {
  it('keeps no more spans open than its bound', () => {
    let [open, most, started] = [0, 0, 0]
    const tracer = untyped<Tracer>({
      startSpan() {
        started++
        most = Math.max(most, ++open)
        return { ...spanThat('none'), end: () => void open-- }
      },
    })
    const spans = new RunSpans(
      { tracer, measures: undefined, contents: true, onEnd() {} },
      {
        kind: 'team',
        name: 'crew',
        servable: { run: () => new Promise(() => {}) },
        runId: 'r',
        input: 'hi',
        sessionId: undefined,
        traceparent: undefined,
        owner: null,
        requestId: undefined,
        transport: undefined,
        redact: text => text,
      },
    )
    const events: RunEvent[] = Array.from({ length: 10_000 }, (_, index) => [
      { type: 'tool_call_start', toolCall: { id: `${index}`, name: 't' } } as const,
      { type: 'step', id: `s${index}`, name: 's', status: 'started', parentId: `${index}` } as const,
      { type: 'text', text: 'x', agent: `a${index}`, parentId: `s${index}` } as const,
    ]).flat()
    for (const event of events) spans.event(event)
    expect(most).toBe(201)
    // What ended makes room for others.
    for (let index = 0; index < 10_000; index++) {
      spans.event({ type: 'step', id: `s${index}`, name: 's', status: 'completed' })
      spans.event({ type: 'tool_call_end', toolCallId: `${index}`, result: 1 })
    }
    expect(open).toBe(1)
    expect(spans.traceparentOf('/'.repeat(1_000_000))).toBeUndefined()
    spans.event({ type: 'tool_call_start', toolCall: { id: 'later', name: 't' } })
    expect(open).toBe(2)
    expect(started).toBe(202)
    spans.end({ type: 'finish', finishReason: 'stop' }, 1)
    expect(open).toBe(0)
  })
})

describe('events in any order', () => {
  it('leave no span open', async () => {
    const odd = new Workflow({
      name: 'odd',
      register: false,
      async *run() {
        yield { type: 'tool_call_end', toolCallId: 'never-begun', result: 1 }
        yield { type: 'tool_call_start', toolCall: { id: 'a', name: 'x' } }
        yield { type: 'tool_call_start', toolCall: { id: 'a', name: 'x' } }
        yield { type: 'step', id: 's', name: 's', status: 'completed' }
        yield { type: 'step', id: 's', name: 's', status: 'started', parentId: 's' }
        yield { type: 'text', text: 'x', parentId: 'nowhere', agent: 'nobody' }
        yield { type: 'model_call', durationMs: 1e12 }
      },
    })
    const { run, spans } = traced([odd])
    await run('workflows/odd', { input: 'hi' })
    expect(
      spans()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['chat', 'execute_tool x', 'invoke_agent nobody', 'invoke_workflow odd', 'step s'])
  })
})

describe('options', () => {
  const tracer = untyped<Tracer>({ startSpan() {} })

  it.each([
    ['no tracer', {}, 'tracer'],
    ['a provider for the tracer', { tracer: { getTracer() {} } }, 'tracer'],
    ['a provider for the meter', { tracer, meter: { getMeter() {} } }, 'meter'],
    ['a text for `contents`', { tracer, contents: 'yes' }, 'contents'],
    ['no function for `flush`', { tracer, flush: 1 }, 'flush'],
    ['one that is not known', { tracer, spans: true }, 'spans'],
  ])('with %s are refused', (_, options, name) => {
    expect(() => otel(untyped<OtelOptions>(options))).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(name) }),
    )
  })

  it('are taken with a tracer alone', () => {
    const meter = untyped<Meter>({ createHistogram: () => ({}), createCounter: () => ({}) })
    expect(otel({ tracer }).name).toBe('otel')
    expect(otel({ tracer, meter }).name).toBe('otel')
  })
})
