import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/agents/agent.ts'
import type { ToolContext } from '../../src/agents/tool.ts'
import { callTool } from '../../src/agents/work/call-tool.ts'
import { runContextOf } from '../../src/agents/work/perform.ts'
import type { RunEvent, Tool } from '../../src/index.ts'
import { drain } from '../support.ts'
import { talk } from './talk.ts'

const run = runContextOf({ runId: 'r', signal: new AbortController().signal })

/** The events of a call, and what it returns or throws. */
async function call(tool: Tool, args: unknown) {
  const events: RunEvent[] = []
  const calling = callTool(tool, args, run)
  try {
    let item = await calling.next()
    for (; !item.done; item = await calling.next()) events.push(item.value)
    return { events, result: item.value }
  } catch (thrown) {
    return { events, thrown }
  }
}

describe('callTool', () => {
  it('tells start, arguments and end, and returns the result', async () => {
    const { events, result } = await call({ name: 'double', execute: args => Number(args) * 2 }, 4)
    const id = expect.any(String)
    expect(events).toEqual([
      { type: 'tool_call_start', toolCall: { id, name: 'double' } },
      { type: 'tool_call_delta', toolCallId: id, argumentsDelta: '4' },
      { type: 'tool_call_ready', toolCallId: id, args: 4 },
      { type: 'tool_call_end', toolCallId: id, result: 8 },
    ])
    expect(result).toBe(8)
  })

  it('gives every event of one call the same id, and every call its own', async () => {
    const tool: Tool = { name: 't', execute: () => 1 }
    const [first, second] = await Promise.all([drain(callTool(tool, 1, run)), drain(callTool(tool, 1, run))])
    const ids = [...first, ...second].map(event =>
      event.type === 'tool_call_start' ? event.toolCall.id : Object(event).toolCallId,
    )
    expect(new Set(ids.slice(0, 4)).size).toBe(1)
    expect(new Set(ids).size).toBe(2)
  })

  it('tells the tool which run and call it is for', async () => {
    const seen: ToolContext[] = []
    const { events } = await call({ name: 't', execute: (_, context) => seen.push(context) }, {})
    expect(seen).toMatchObject([{ runId: 'r', signal: run.signal }])
    expect(events[0]).toMatchObject({ toolCall: { id: seen[0]?.toolCallId } })
  })

  it('tells the tool who asks and in which session and request, and no key', async () => {
    const seen: ToolContext[] = []
    const look: Tool = { name: 'look', execute: (_, context) => void seen.push(context) }
    const agent = new Agent({
      name: 'a',
      register: false,
      tools: [look],
      run: (_, context) => context.callTool('look', {}),
    })
    const who = { userId: 'ada', identity: 'ada', sessionId: 's', requestId: 'q', traceparent: 't' }
    await agent.run('hi', { ...who, runId: 'r', apiKey: 'k', apiKeys: { '*': 'k' } })
    expect(seen).toEqual([
      {
        ...who,
        runId: 'r',
        toolCallId: expect.any(String),
        idempotencyKey: 'r/look',
        attempt: 1,
        signal: expect.any(AbortSignal),
      },
    ])
  })

  it('gives each call a key, which is the same when the run goes on', async () => {
    const keys: string[] = []
    const asked: string[] = []
    const pay: Tool = {
      name: 'pay',
      needsApproval: (_, { idempotencyKey }) => asked.push(idempotencyKey) > 0,
      execute: (_, { idempotencyKey }) => void keys.push(idempotencyKey),
    }
    const first = await talk(
      new Agent({
        name: 'a',
        register: false,
        tools: [pay],
        async *run(_, context) {
          yield* context.callTool('pay', {})
          yield* context.step('again', step => step.callTool('pay', {}))
        },
      }),
    )
    await (await first.say('yes')).say('yes')
    expect(keys).toEqual([`${first.id}/pay`, `${first.id}/again/pay`])
    expect(asked).toEqual(keys)
  })

  it('waits for a tool that answers later', async () => {
    const { result } = await call({ name: 't', execute: async () => 'later' }, {})
    expect(result).toBe('later')
  })

  it.each([
    [
      'thrown',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejected', () => Promise.reject(new Error('broken'))],
  ])('tells an error that is %s, then throws it on', async (_, execute) => {
    const { events, thrown } = await call({ name: 't', execute }, {})
    expect(events.at(-1)).toMatchObject({ type: 'tool_call_end', error: 'broken' })
    expect(thrown).toMatchObject({ message: 'broken' })
  })

  it('writes nothing as null', async () => {
    const { events, result } = await call({ name: 't', execute: () => {} }, undefined)
    expect(events[1]).toMatchObject({ argumentsDelta: 'null' })
    expect(events[3]).toMatchObject({ result: null })
    expect(result).toBeUndefined()
  })
})
