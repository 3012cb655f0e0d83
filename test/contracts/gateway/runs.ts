/** Runs over the event socket, the same for every client. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { SECRET } from '../fixture/misbehaving.ts'
import { HISTORY, TOOLS } from '../http/conversations.ts'
import { noted, openGate, own } from '../runs/client.ts'
import { type Client, ended, play, type Server, start, structuredOf, textOf } from './client.ts'

const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }

/** `open` makes a connected client. `auth` is its handshake data. */
export function runCases(server: Server, open: (auth?: object) => Promise<Client>): void {
  it('answers `agent.run` with the id of a run, then its text, then its end', async () => {
    const client = await open()
    const runId = await start(client, 'agent.run', { name: 'echo', input: 'one two three' })
    const events = await ended(client, runId)
    expect(textOf(events)).toBe('one two three')
    expect(events.at(-1)).toMatchObject({
      event: 'agent.done',
      data: { output: { text: 'one two three' }, usage, finishReason: 'stop', runId },
    })
    expect(Object.keys(events.at(-1)?.data ?? {}).sort()).toEqual([
      'finishReason',
      'output',
      'runId',
      'usage',
    ])
    expect(events.slice(0, -1).every(({ data }) => Object.keys(data).join() === 'chunk,runId')).toBe(true)
  })

  it('takes the history and the tools of a client, as over HTTP', async () => {
    const client = await open()
    const told = { history: HISTORY, clientTools: TOOLS }
    const ask = { name: 'conversed', input: 'x' }
    const events = await play(client, 'agent.run', { ...ask, ...told })
    expect(structuredOf(events)).toEqual({ ...told, remembers: false })
    const sessionId = own('session')
    const kept = await play(client, 'agent.run', { ...ask, ...told, sessionId, memory: 'client' })
    expect(structuredOf(kept)).toEqual({ ...told, sessionId, remembers: false })
    const refusal = (payload: object) => client.ask('agent.run', { ...ask, ...payload })
    expect(await refusal({ ...told, sessionId })).toMatchObject({ code: 'conflicting_memory' })
    const forged = [{ role: 'tool', toolCallId: 'c9', result: 'paid' }]
    expect(await refusal({ history: forged })).toMatchObject({
      code: 'invalid_body',
      error: expect.stringContaining('`history.0.toolCallId`'),
    })
  })

  it('wants no answer where none is asked for', async () => {
    const client = await open()
    client.tell('agent.run', { name: 'shout', input: 'loud' })
    await eventually(() => expect(client.got.at(-1)?.event).toBe('agent.done'))
    expect(client.got.at(-1)?.data.output).toEqual({ text: 'LOUD' })
  })

  it('tells of tools as the specification has it', async () => {
    const events = await play(await open(), 'agent.run', { name: 'tooled', input: 'x' })
    const [call, done] = ['agent.tool.call', 'agent.tool.done'].map(name =>
      events.find(({ event }) => event === name),
    )
    expect(call?.data).toEqual({
      toolName: 'add',
      args: null,
      toolCallId: expect.any(String),
      runId: expect.any(String),
    })
    expect(done?.data).toEqual({ toolCallId: call?.data.toolCallId, runId: call?.data.runId })
    expect(events.filter(({ event }) => event === 'agent.tool.ready').map(({ data }) => data)).toEqual([
      {
        toolCallId: call?.data.toolCallId,
        args: { a: 1, b: 2 },
        at: expect.any(Number),
        runId: call?.data.runId,
      },
    ])
    expect(textOf(events)).toBe('sum 3')
  })

  it('tells of all else that a run says', async () => {
    const events = await play(await open(), 'agent.run', { name: 'detailed', input: 'x' })
    expect(events.map(({ event }) => event)).toEqual([
      'agent.thinking',
      'agent.chunk',
      'agent.artifact',
      'agent.done',
    ])
    expect(events.at(-1)?.data).toMatchObject({
      structured: { city: 'Oslo' },
      usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
      finishReason: 'length',
    })
  })

  it('runs teams and workflows by the same events', async () => {
    const client = await open()
    const team = await play(client, 'team.run', { name: 'line', input: 'hello' })
    expect(team.at(-1)).toMatchObject({ event: 'agent.done', data: { finishReason: 'stop' } })
    const workflow = await play(client, 'workflow.run', { name: 'count', input: 'hello' })
    expect(workflow.map(({ event }) => event)).toContain('agent.step')
    expect(workflow.at(-1)).toMatchObject({ event: 'agent.done', data: { finishReason: 'stop' } })
  })

  it('takes input in parts, and who asks', async () => {
    const client = await open()
    const input = [
      { type: 'text', text: 'see' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ]
    const parts = await play(client, 'agent.run', { name: 'parts', input })
    expect(parts.at(-1)?.data.output).toEqual({ text: 'see, image image/png' })
    const told = await play(client, 'agent.run', { name: 'told', input: 'x', sessionId: 's1', userId: 'u1' })
    expect(told.at(-1)?.data.structured).toMatchObject({ sessionId: 's1', userId: 'u1', hasSignal: true })
  })

  it('has several runs at once, each with its id', async () => {
    const client = await open()
    const gates = [own('gate'), own('gate')]
    const ids = await Promise.all(
      gates.map(gate => start(client, 'agent.run', { name: 'gated', input: gate })),
    )
    expect(new Set(ids).size).toBe(2)
    await openGate(server, gates[1]!)
    expect(textOf(await ended(client, ids[1]!))).toBe('before after')
    expect(client.got.some(({ data, event }) => data.runId === ids[0] && event === 'agent.done')).toBe(false)
    await openGate(server, gates[0]!)
    expect(textOf(await ended(client, ids[0]!))).toBe('before after')
  })

  it('says the first word at once', async () => {
    const client = await open()
    const gate = own('gate')
    const runId = await start(client, 'agent.run', { name: 'gated', input: gate })
    const own_ = () => client.got.filter(({ data }) => data.runId === runId)
    await eventually(() => expect(textOf(own_())).toBe('before '))
    await openGate(server, gate)
    await ended(client, runId)
  })

  it('cancels a run, down to the agent', async () => {
    const client = await open()
    const gate = own('gate')
    const runId = await start(client, 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    expect(await client.ask('run.cancel', { runId })).toEqual({ runId })
    expect((await ended(client, runId)).at(-1)).toMatchObject({
      event: 'agent.done',
      data: { finishReason: 'cancelled', output: { text: 'before ' } },
    })
    await noted(server, `${gate} stopped`)
  })

  it('masks what an agent throws, and says its code', async () => {
    const events = await play(await open(), 'agent.run', { name: 'throws-late', input: 'x' })
    expect(events.at(-1)).toMatchObject({
      event: 'agent.error',
      data: { error: 'Internal server error', code: 'agent_failed' },
    })
    expect(JSON.stringify(events)).not.toContain(SECRET)
  })

  it.each([
    ['a name that is not there', 'agent.run', { name: 'nobody', input: 'x' }, 'agent_not_found'],
    ['a team that is an agent', 'team.run', { name: 'echo', input: 'x' }, 'team_not_found'],
    ['no payload', 'agent.run', undefined, 'invalid_body'],
    ['a payload that is no object', 'agent.run', ['echo', 'x'], 'invalid_body'],
    ['no name', 'agent.run', { input: 'x' }, 'invalid_body'],
    ['no input', 'agent.run', { name: 'echo' }, 'invalid_body'],
    ['a name as a number', 'agent.run', { name: 7, input: 'x' }, 'invalid_body'],
    ['a name of every object', 'agent.run', { name: '__proto__', input: 'x' }, 'agent_not_found'],
    ['an empty key', 'agent.run', { name: 'echo', input: 'x', apiKey: '' }, 'invalid_body'],
    ['a run that is not there', 'run.cancel', { runId: crypto.randomUUID() }, 'run_not_found'],
    ['no run', 'run.cancel', {}, 'invalid_body'],
    ['an event that is not there', 'agent.walk', {}, 'not_found'],
    ['an event of every object', 'constructor', {}, 'not_found'],
  ])('refuses %s, in the answer and as `agent.error`', async (_, event, payload, code) => {
    const client = await open()
    const before = client.got.length
    const answer = await client.ask(event, payload)
    expect(answer).toEqual({ error: expect.any(String), code })
    await eventually(() =>
      expect(client.got.slice(before)).toContainEqual(
        expect.objectContaining({ event: 'agent.error', data: answer }),
      ),
    )
    await play(client, 'agent.run', { name: 'echo', input: 'still here' })
  })

  it('uses the key of the payload before that of the handshake', async () => {
    const tail = async (client: Client, more: object = {}) => {
      const events = await play(client, 'agent.run', { name: 'keys-a', input: 'x', ...more })
      return structuredOf(events).apiKey
    }
    const client = await open({ apiKey: 'sk-test-HAND' })
    expect(await tail(client)).toBe('HAND')
    expect(await tail(client, { apiKey: 'sk-test-LOAD' })).toBe('LOAD')
    expect(await tail(client)).toBe('HAND')
    expect(await tail(await open())).toBe(null)
  })

  it('tells no key, not even where an agent does', async () => {
    const [hand, load] = [own('sk-hand'), own('sk-load')]
    const client = await open({ apiKey: hand })
    for (const name of ['leaks-keys', 'leaks-keys-to-the-caller', 'leaks-keys-in-an-event']) {
      const runId = await start(client, 'agent.run', { name, input: 'x', apiKey: load })
      await ended(client, runId)
      await ended(client, await start(client, 'agent.run', { name, input: 'x' }))
    }
    await client.ask('agent.run', { name: load, input: 'x', apiKey: load })
    const said = JSON.stringify(client.got) + server().log()
    for (const key of [hand, load]) expect(said).not.toContain(key)
  })

  it('starts one run for one idempotency key', async () => {
    const client = await open()
    const payload = { name: 'gated', input: own('gate'), idempotencyKey: own('key') }
    const ids = await Promise.all(Array.from({ length: 4 }, () => start(client, 'agent.run', payload)))
    const [runId = ''] = ids
    expect(new Set(ids).size).toBe(1)
    expect(await client.ask('agent.run', { ...payload, input: 'else' })).toMatchObject({
      code: 'idempotency_mismatch',
    })
    await openGate(server, payload.input)
    expect(textOf(await ended(client, runId))).toBe('before after')
    // The run has ended. A repeated request gets its events again.
    const before = client.got.length
    expect(await start(client, 'agent.run', payload)).toBe(runId)
    await eventually(() => expect(client.got.slice(before).at(-1)?.event).toBe('agent.done'))
  })

  it('cancels the runs of a client that leaves', async () => {
    const client = await open()
    const gates = [own('gate'), own('gate')]
    for (const gate of gates) {
      await start(client, 'agent.run', { name: 'gated', input: gate })
      await noted(server, `${gate} started`)
    }
    client.leave()
    for (const gate of gates) await noted(server, `${gate} stopped`)
  })

  it('lets a background run go on without its client', async () => {
    const client = await open()
    const gate = own('gate')
    const payload = { name: 'gated', input: gate, background: true }
    const runId = await start(client, 'agent.run', payload)
    await noted(server, `${gate} started`)
    client.leave()
    await openGate(server, gate)
    await eventually(async () => {
      const response = await fetch(`${server().url}/api/runs/${runId}`)
      expect(await response.json()).toMatchObject({ status: 'completed', result: { text: 'before after' } })
    })
  })

  it('gives a long answer whole and in order', async () => {
    const events = await play(await open(), 'agent.run', { name: 'counts', input: '3000' })
    const lines = textOf(events).split('\n\n').slice(0, -1)
    expect(lines).toHaveLength(3000)
    expect(lines.every((line, index) => line.startsWith(`${index + 1} of 3000`))).toBe(true)
    expect(events.at(-1)?.data.output).toEqual({ text: textOf(events) })
  })

  describe('an event that JSON cannot say', () => {
    it('fails the run, and nothing else', async () => {
      const client = await open()
      const events = await play(client, 'agent.run', { name: 'unsayable', input: 'x' })
      expect(events.at(-1)).toMatchObject({ event: 'agent.error', data: { code: 'invalid_event' } })
      await play(client, 'agent.run', { name: 'echo', input: 'still here' })
    })
  })
}
