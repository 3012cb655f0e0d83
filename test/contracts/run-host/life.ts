import { expect, it } from 'vitest'
import { begin, ending, eventsIn, type Hosted, isTerminal, read, unique, until } from './kit.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const noOne = '00000000-0000-4000-8000-000000000000'

export function lifeCases(hosted: Hosted): void {
  it('has a record from its start', async () => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const options = { sessionId: 's', userId: 'u' }
    const started = await begin(host, [{ gate }, { say: 'hi' }], { options })
    const { id, createdAt } = started
    expect(id).toMatch(UUID)
    expect(new Date(createdAt).toISOString()).toBe(createdAt)
    const record = { id, kind: 'agent', name: 'scripted', status: 'running', createdAt, updatedAt: createdAt }
    expect(started).toEqual({ ...record, ...options })
    expect(await host.get(id, null)).toEqual(started)
    await openGate(gate)
    expect((await ending(host, id)).status).toBe('completed')
  })

  it('has its result once it has ended', async () => {
    const { host } = hosted()
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
    const structured = { answer: 42 }
    const { id } = await begin(host, [
      { say: 'one ' },
      { event: { type: 'tool_call_start', toolCall: { id: 't', name: 'add' } } },
      { event: { type: 'tool_call_delta', toolCallId: 't', argumentsDelta: '{"a":1}' } },
      { event: { type: 'tool_call_end', toolCallId: 't', result: [1, null] } },
      { say: 'two' },
      { finish: { finishReason: 'length', usage, structured } },
    ])
    const record = await ending(host, id)
    expect(record).toMatchObject({ id, status: 'completed', finishReason: 'length' })
    expect(record.result).toMatchObject({
      text: 'one two',
      toolCalls: [{ toolCallId: 't', toolName: 'add', args: { a: 1 }, result: [1, null] }],
      usage,
      structured,
      finishReason: 'length',
      runId: id,
    })
    expect(Date.parse(record.updatedAt)).toBeGreaterThanOrEqual(Date.parse(record.createdAt))
    expect(await host.get(id, null)).toEqual(record)
    expect(await ending(host, id)).toEqual(record)
  })

  it.each([
    ['stop', 'completed'],
    ['tool_calls', 'completed'],
    ['content_filter', 'completed'],
    ['rejected', 'completed'],
    ['input_required', 'input_required'],
    ['auth_required', 'input_required'],
    ['cancelled', 'cancelled'],
  ] as const)('that finishes with %s is %s', async (finishReason, status) => {
    const { host } = hosted()
    const { id } = await begin(host, [{ finish: { finishReason } }])
    expect(await ending(host, id)).toMatchObject({ status, finishReason })
  })

  it('that fails has its error, and no result', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'so far' }, { fail: 'no such city', code: 'invalid_input' }])
    const record = await ending(host, id)
    expect(record).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_input', message: 'no such city' },
    })
    expect(record).not.toHaveProperty('result')
    expect(record).not.toHaveProperty('finishReason')
    expect(eventsIn(await read(host, id))).toEqual([
      { type: 'text', text: 'so far' },
      { type: 'error', error: 'no such city', code: 'invalid_input' },
    ])
  })

  it('that throws anything has failed with agent_failed', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ fail: 'broken' }])
    expect((await ending(host, id)).error?.code).toBe('agent_failed')
  })

  it('that is cancelled keeps what it said', async () => {
    const { host, wasStopped } = hosted()
    const { id } = await begin(host, [{ say: 'so far' }, { gate: unique('never') }, { say: 'never' }])
    const follower = await host.follow(id, null, 0)
    await follower.next()
    const cancelled = await host.cancel(id, null)
    expect(cancelled).toMatchObject({ id, status: 'cancelled', finishReason: 'cancelled' })
    expect(cancelled.result).toMatchObject({ text: 'so far', finishReason: 'cancelled' })
    expect(await wasStopped(id)).toBe(true)
    expect(await host.get(id, null)).toEqual(cancelled)
    expect(eventsIn(await read(host, id)).filter(isTerminal)).toEqual([
      { type: 'finish', finishReason: 'cancelled' },
    ])
    follower.leave()
  })

  it('may be cancelled twice, and at the same time', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ gate: unique('never') }])
    const records = await Promise.all([1, 2, 3].map(() => host.cancel(id, null)))
    expect(records.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect((await host.cancel(id, null)).status).toBe('cancelled')
    expect(await read(host, id)).toHaveLength(1)
  })

  it.each([
    ['has completed', [{ say: 'hi' }]],
    ['has failed', [{ fail: 'broken' }]],
    ['wants input', [{ finish: { finishReason: 'input_required' } }]],
  ] as const)('that %s cannot be cancelled', async (_, acts) => {
    const { host } = hosted()
    const { id } = await begin(host, acts)
    const record = await ending(host, id)
    await expect(host.cancel(id, null)).rejects.toMatchObject({ code: 'run_ended' })
    expect(await host.get(id, null)).toEqual(record)
  })

  it('that nobody started is not found', async () => {
    const { host } = hosted()
    const notFound = { code: 'run_not_found' }
    await expect(host.get(noOne, null)).rejects.toMatchObject(notFound)
    await expect(host.follow(noOne, null, 0)).rejects.toMatchObject(notFound)
    await expect(ending(host, noOne)).rejects.toMatchObject(notFound)
    await expect(host.cancel(noOne, null)).rejects.toMatchObject(notFound)
  })

  it('is one of many at the same time', async () => {
    const { host } = hosted()
    const started = await Promise.all(
      Array.from({ length: 40 }, (_, i) => begin(host, [{ say: `${i}`, times: 3 }])),
    )
    const records = await Promise.all(started.map(({ id }) => ending(host, id)))
    expect(records.map(({ result }) => result?.text)).toEqual(
      Array.from({ length: 40 }, (_, i) => `${i}`.repeat(3)),
    )
  })

  it('may be large, in one event and in all', async () => {
    const { host } = hosted()
    const say = '😀€'.repeat(400_000)
    const { id } = await begin(host, [{ say, times: 2 }, { say: 'end' }])
    const record = await ending(host, id)
    expect(record.result?.text === `${say}${say}end`).toBe(true)
    const events = eventsIn(await read(host, id))
    expect(events.map(({ type }) => type)).toEqual(['text', 'text', 'text', 'finish'])
    expect(events[0]).toEqual({ type: 'text', text: say })
  })

  it('may have an input of 5 MB', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'x' }, { gate: 'y'.repeat(5_000_000) }])
    await until(host, id, 'running')
    expect((await host.cancel(id, null)).result?.text).toBe('x')
  })

  it('keeps texts that are no whole Unicode', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'a\ud83d' }, { say: '\ude00\u0000\r\n\u2028' }])
    expect((await ending(host, id)).result?.text).toBe('a😀\u0000\r\n\u2028')
    expect(eventsIn(await read(host, id)).slice(0, 2)).toEqual([
      { type: 'text', text: 'a\ud83d' },
      { type: 'text', text: '\ude00\u0000\r\n\u2028' },
    ])
  })
}
