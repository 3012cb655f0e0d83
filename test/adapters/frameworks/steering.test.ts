/** Messages that reach an agent of a framework while it is at work. */
import { ToolLoopAgent as NewestAgent, tool as newest } from 'ai'
import { ToolLoopAgent as OlderAgent, tool as older } from 'ai-sdk-6'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { toAgent } from '../../../src/adapters/frameworks/to-agent.ts'
import { deferred } from '../../../src/base/wake.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { createHandler, memoryState, type RunEvent } from '../../../src/index.ts'
import { type ScriptedCall, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventually } from '../../eventually.ts'

type Answer = Parameters<typeof scriptedModel>[0]

/** Members that both versions have. */
interface Settings {
  readonly prepareStep?: (step: { readonly messages: readonly unknown[] }) => object
  readonly needsApproval?: boolean
}

/** An agent with a tool that waits for the test, what its model was asked, and requests to it. */
function world(
  version: 'ai' | 'ai-sdk-6',
  answer: Answer,
  { needsApproval = false, ...more }: Settings = {},
) {
  const asked: ScriptedCall[] = []
  const gate = deferred<void>()
  const model = scriptedModel(call => {
    asked.push(call)
    return typeof answer === 'function' ? answer(call) : ''
  })
  const slow = {
    description: 'Waits',
    inputSchema: z.object({}),
    execute: () => gate.promise.then(() => 'slept'),
  }
  const pay = { description: 'Pays', inputSchema: z.object({}), needsApproval, execute: () => 'paid' }
  const settings = { id: 'helper', model, ...more }
  const agent =
    version === 'ai'
      ? new NewestAgent({ ...settings, tools: { slow: newest(slow), pay: newest(pay) } } as never)
      : new OlderAgent({ ...settings, tools: { slow: older(slow), pay: older(pay) } } as never)
  const handler = createHandler({
    serve: [toAgent(agent)],
    registry: false,
    state: memoryState(),
    logger: false,
    plugins: [sessions()],
    middleware: [
      (_, context, next) => {
        context.identity = { id: 'ada' }
        return next()
      },
    ],
  })
  const ask = async (path: string, body?: object) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    const response = await handler(new Request(`http://localhost/api${path}`, body && init))
    const text = await response.text()
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
  const run = (input: string, more: object = {}) =>
    ask('/agents/helper/run', { input, sessionId: 's', ...more })
  const steer = (input: string) => run(input, { concurrency: 'steer' })
  return { asked, gate, ask, run, steer }
}

/** What a model was told: the texts of users and of the assistant, and the results of tools. */
const told = (call: ScriptedCall | undefined) =>
  (call?.messages ?? []).flatMap(({ role, content }) => {
    if (role === 'tool') return ['tool']
    const texts = (content as { type: string; text?: string }[]).flatMap(part => part.text ?? [])
    return texts.map(text => `${role}: ${text}`)
  })

const slowly: Answer = ({ call }) => (call < 2 ? { toolCalls: [{ name: 'slow', input: {} }] } : 'done')

describe.each(['ai', 'ai-sdk-6'] as const)('an agent of `%s`', version => {
  it('gets messages after its tools and before the next call of its model, in order and once', async () => {
    const { asked, gate, ask, run, steer } = world(version, slowly)
    const first = run('first', { stream: true })
    await eventually(() => expect(asked).toHaveLength(1))
    const answers = [await steer('second'), await steer('third')]
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    gate.resolve()
    const { body } = await first
    expect(asked.map(told)).toEqual([
      ['user: first'],
      ['user: first', 'tool', 'user: second', 'user: third'],
      ['user: first', 'tool', 'user: second', 'user: third', 'tool'],
    ])
    for (const { body: answer } of answers) {
      const waiting = await ask(`/runs/${answer.next}`)
      expect(waiting.body.result).toMatchObject({ steeredInto: answer.id })
    }
    expect(body.text).toBe('done')
    await run('fourth')
    expect(told(asked.at(-1))).toEqual(['user: first\n\nsecond\n\nthird', 'assistant: done', 'user: fourth'])
  })

  it('tells the readers of the run', async () => {
    const { asked, gate, ask, steer } = world(version, slowly)
    const stream = ask('/agents/helper/stream', { input: 'first', sessionId: 's' })
    await eventually(() => expect(asked).toHaveLength(1))
    await steer('second')
    gate.resolve()
    const events = (await stream).text
      .split('\n')
      .flatMap((line): RunEvent[] => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    const kinds = events.map(({ type }) => type).filter(type => /^(tool_call_end|steered|text)$/.test(type))
    expect(kinds.join()).toMatch(/^tool_call_end,steered,tool_call_end,text/)
  })

  it('leaves a message that comes during its last answer to the next run', async () => {
    const last = deferred<void>()
    const { asked, run, ask, steer } = world(version, async ({ call }) => {
      if (call === 0) await last.promise
      return `answer ${call}`
    })
    const first = run('first')
    await eventually(() => expect(asked).toHaveLength(1))
    const { body } = await steer('second')
    last.resolve()
    expect((await first).body.text).toBe('answer 0')
    await eventually(async () => {
      const { result } = (await ask(`/runs/${body.next}`)).body
      expect(result).toMatchObject({ text: 'answer 1' })
    })
    expect(told(asked[1])).toEqual(['user: first', 'assistant: answer 0', 'user: second'])
  })

  it('keeps them in a run that waits for an approval, and asks its own `prepareStep`', async () => {
    const seen: number[] = []
    const { asked, gate, ask, run, steer } = world(
      version,
      ({ call }) => {
        if (call < 2) return { toolCalls: [{ name: call === 0 ? 'slow' : 'pay', input: {} }] }
        return 'done'
      },
      {
        needsApproval: true,
        prepareStep({ messages }) {
          seen.push(messages.length)
          return {}
        },
      },
    )
    const first = run('first')
    await eventually(() => expect(asked).toHaveLength(1))
    await steer('second')
    gate.resolve()
    const { body } = await first
    expect(body.finishReason).toBe('input_required')
    const [{ id }] = body.requests
    const after = await ask(`/runs/${body.runId}/answers`, { answers: [{ id, decision: 'approve' }] })
    expect(after.status, after.text).toBe(200)
    expect(told(asked[2])).toEqual(['user: first', 'tool', 'user: second', 'tool'])
    expect(seen.slice(0, 2)).toEqual([1, 4])
  })
})
