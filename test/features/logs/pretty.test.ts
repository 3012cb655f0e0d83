import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { type PrettyLogOptions, prettyLog } from '../../../src/features/logs/index.ts'
import { Agent, createHandler, type LogEntry } from '../../../src/index.ts'
import { codePoint } from '../../code-point.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

function written(options: PrettyLogOptions = {}) {
  const texts: string[] = []
  const log = prettyLog({ colors: false, write: text => void texts.push(text), ...options })
  return { texts, log }
}

const TIME = /^\d\d:\d\d:\d\d {2}/

describe('a log for people', () => {
  it('has a line for each request, with its columns aligned', async () => {
    const { texts, log } = written()
    const echo = new Agent({ name: 'echo', register: false, run: () => 'hi' })
    const handler = createHandler({ agents: { echo }, registry: false, logger: log })
    const ask = (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1${path}`, init))
    await ask('/api/agents/echo/run', jsonRequest({ input: 'x' }))
    await ask('/nowhere')
    expect(texts).toHaveLength(2)
    expect(texts[0]).toMatch(
      /^.{8} {2}POST {6}200 {6} +[\d.]+ (ms|s) {2}\/api\/agents\/echo\/run {2}run=[\da-f]{8}$/,
    )
    expect(texts[1]).toMatch(/^.{8} {2}GET {7}404 {6} +[\d.]+ (ms|s) {2}\/nowhere$/)
    expect(texts[1]?.indexOf('/nowhere')).toBe(texts[0]?.indexOf('/api'))
  })

  it('says what a run took, and how it ended', () => {
    const { texts, log } = written()
    const run = {
      level: 'info',
      event: 'run.ended',
      kind: 'team',
      name: 'desk',
      runId: 'abc',
      durationMs: 1234,
    } as const
    const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 }
    log({
      ...run,
      status: 'completed',
      finishReason: 'stop',
      usage,
      cost: 0.0012,
      toolCalls: 2,
      transport: 'sse',
    })
    log({ ...run, status: 'failed', code: 'run_timeout', toolCalls: 0 })
    log({ ...run, status: 'input_required', finishReason: 'input_required' })
    expect(texts.map(text => text.replace(TIME, ''))).toEqual([
      'team      completed       1.2 s  desk  10→2 tokens  $0.0012  2 tool calls  run=abc transport=sse',
      'team      failed          1.2 s  desk  run_timeout  run=abc',
      'team      waits           1.2 s  desk  input_required  run=abc',
    ])
  })

  it('shows failures with where they were thrown, and other entries with their fields', () => {
    const { texts, log } = written()
    const error = { name: 'Error', message: 'no', stack: 'Error: no\n    at place (file.ts:1:1)' }
    log({ level: 'error', event: 'run.failed', message: 'no', code: 'agent_failed', error })
    log({ level: 'warn', event: 'admin.open', list: ['a', 1], nothing: undefined })
    expect(texts.map(text => text.replace(TIME, ''))).toEqual([
      'error     run.failed  no  code=agent_failed\n  Error: no\n      at place (file.ts:1:1)',
      'warn      admin.open  list=["a",1]',
    ])
  })

  it('lets no entry write a line of its own or steer the terminal, and none is long', () => {
    const { texts, log } = written()
    const text = fc.string({ unit: codePoint, maxLength: 50 }).map(given => `\u001b[2J\n\u202e${given}`)
    const events = fc.constantFrom('request', 'run.ended', 'service.started', 'run.failed', 'other')
    const field = fc.oneof(text, fc.array(text), fc.dictionary(text, text), fc.constant('x'.repeat(100_000)))
    const names = [
      'method',
      'path',
      'status',
      'name',
      'kind',
      'code',
      'message',
      'serves',
      'url',
      'usage',
      'identity',
    ]
    fc.assert(
      fc.property(
        events,
        fc.array(fc.tuple(fc.constantFrom(...names), field), { maxLength: 8 }),
        (event, fields) => {
          texts.length = 0
          log({ level: 'info', ...Object.fromEntries(fields), event })
          const [told = ''] = texts
          expect(told.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
          // Only the start has lines of its own, one a row.
          expect(told.split('\n').length).toBeLessThanOrEqual(event === 'service.started' ? 6 : 1)
          expect(told.length).toBeLessThan(20_000)
        },
      ),
    )
  })

  it('takes what cannot be written as JSON', () => {
    const { texts, log } = written()
    log({ level: 'info', event: 'request', status: { toString: 1, valueOf: 1 } })
    log({ level: 'info', event: 'run.ended', usage: null, cost: 'free' })
    expect(texts.splice(0)).toEqual([
      expect.stringContaining('request  status={'),
      expect.stringContaining('run.ended  usage= cost=free'),
    ])
    const circle: Record<string, unknown> = {}
    circle.self = circle
    log({ level: 'info', event: 'odd', circle, big: 1n, made: () => 1 } as LogEntry)
    expect(texts[0]).toContain('circle=object big=bigint made=')
  })

  it('has colors if they are wanted, and writes to the console by its level', () => {
    const spies = (['log', 'warn', 'error'] as const).map(name => vi.spyOn(console, name).mockReturnValue())
    try {
      const log = prettyLog({ colors: true })
      for (const level of ['info', 'warn', 'error'] as const) log({ level, event: 'said' })
      for (const spy of spies) expect(spy.mock.calls).toEqual([[expect.stringContaining('\u001b[')]])
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  })
})
