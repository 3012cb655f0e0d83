/** Runs of a model that wait for a client or a person, and go on with what was answered. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ModelAgent, type ModelAgentConfig } from '../../../src/adapters/model-agent/index.ts'
import { toKept } from '../../../src/adapters/model-agent/waiting.ts'
import { requestOf } from '../../../src/agents/input-request.ts'
import type { Answer } from '../../../src/agents/run-types.ts'
import { createHandler, memoryState, type RunOptions, type Tool } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { drain } from '../../support.ts'
import { play, requestsIn, work } from './kit.ts'
import { calls, type Provider, says, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.stop())

const model: ModelAgentConfig['model'] = () =>
  createOpenAICompatible({ name: 'provider-a', baseURL: provider.url, apiKey: 'k', includeUsage: true })('m')

const make = (tools: readonly Tool[] = [], more: Partial<ModelAgentConfig> = {}) =>
  new ModelAgent({ name: 'helper', model, register: false, tools: [...tools], ...more })

const clientTools = [
  { name: 'pick_color', description: 'Asks for a color', parameters: { type: 'object', required: ['hue'] } },
]

/** A tool that notes its calls, and needs an approval. */
function refund(more: Partial<Tool> = {}) {
  const done: unknown[] = []
  const tool: Tool = {
    name: 'shop.refund',
    parameters: v.object({ order: v.pipe(v.string(), v.transform(Number)) }),
    needsApproval: true,
    execute(args) {
      done.push(args)
      return { paid: true }
    },
    ...more,
  }
  return { tool, done }
}

const told = (at: number) => provider.asked[at]?.body.messages ?? []
/** What is told of models and of arguments has tests of its own. */
const ELSEWHERE: readonly string[] = ['tool_call_delta', 'tool_call_ready', 'model_call']

const kinds = (events: readonly { readonly type: string }[]) =>
  events.map(({ type }) => type).filter(type => !ELSEWHERE.includes(type))

describe('the tools of a client', () => {
  it('are offered to the model, and a call of one is a request', async () => {
    provider.script(calls(['pick_color', { hue: 'warm' }]))
    const events = await play(make(), 'Paint', { runId: 'r1', clientTools, work: work() })
    expect(provider.asked[0]?.body.tools).toMatchObject([
      {
        function: {
          name: 'pick_color',
          description: 'Asks for a color',
          parameters: { type: 'object', required: ['hue'] },
        },
      },
    ])
    expect(kinds(events)).toEqual(['tool_call_start', 'finish'])
    const [start, ...rest] = events
    const toolCallId = start?.type === 'tool_call_start' ? start.toolCall.id : ''
    const asked = {
      id: 'r1/client_tool:pick_color',
      kind: 'client_tool',
      toolCallId,
      toolName: 'pick_color',
      args: { hue: 'warm' },
    } as const
    expect(rest.at(-1)).toEqual({
      type: 'finish',
      finishReason: 'input_required',
      usage: { promptTokens: 7, completionTokens: 3, totalTokens: 10 },
      structured: null,
      requests: [await requestOf(asked)],
    })
  })

  it('give results with which the model goes on, after those of the server', async () => {
    const weather: Tool = { name: 'weather', execute: () => 'sunny' }
    const agent = make([weather])
    const state = work()
    provider.script(calls(['pick_color', { hue: 'a' }], ['weather', {}], ['pick_color', { hue: 'b' }]))
    const first = await play(agent, 'Paint', { runId: 'r1', clientTools, work: state })
    const requests = requestsIn(first)
    expect(kinds(first)).toEqual([
      'tool_call_start',
      'tool_call_start',
      'tool_call_start',
      'tool_call_end',
      'finish',
    ])
    expect(requests.map(({ id, args }) => [id, args])).toEqual([
      ['r1/client_tool:pick_color', { hue: 'a' }],
      ['r1/client_tool:pick_color#2', { hue: 'b' }],
    ])
    const [one, two] = requests.map(({ id }) => id)
    provider.script(says('Done'))
    const answers: Answer[] = [
      { id: two ?? '', result: { color: 'red' } },
      { id: one ?? '', result: 'blue' },
    ]
    const events = await play(agent, 'Paint', { runId: 'r2', clientTools, work: state, answers })
    expect(kinds(events)).toEqual(['text', 'finish'])
    const conversation = told(0)
    expect(conversation.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool'])
    expect(conversation.slice(2).map(({ content }) => content)).toEqual(['sunny', 'blue', '{"color":"red"}'])
  })

  it('may be asked for again and again', async () => {
    const agent = make()
    const state = work()
    let options: RunOptions = { runId: 'r0', clientTools, work: state }
    provider.script(
      calls(['pick_color', { hue: '0' }]),
      calls(['pick_color', { hue: '1' }]),
      calls(['pick_color', { hue: '2' }]),
      says('Done'),
    )
    for (let turn = 0; turn < 3; turn++) {
      const [request] = requestsIn(await play(agent, 'Paint', options))
      const place = turn === 0 ? 'client_tool:pick_color' : 'client_tool:pick_color#2'
      expect(request).toMatchObject({ id: `r${turn}/${place}`, args: { hue: String(turn) } })
      options = { ...options, runId: `r${turn + 1}`, answers: [{ id: request?.id ?? '', result: turn }] }
    }
    expect((await play(agent, 'Paint', options)).filter(({ type }) => type !== 'model_call')).toMatchObject([
      { text: 'Done' },
      { finishReason: 'stop' },
    ])
    expect(told(3)).toHaveLength(7)
  })

  it('may be asked for again over HTTP, by other names too', async () => {
    const handler = createHandler({ registry: false, logger: false, agents: { helper: make() } })
    const post = async (path: string, body: object) => {
      const request = new Request(`http://127.0.0.1/api/${path}`, jsonRequest(body))
      return (await handler(request)).json()
    }
    const [one = { name: '' }] = clientTools
    const other = { ...one, name: 'pick_brush' }
    provider.script(
      calls(['pick_color', { hue: '0' }]),
      calls(['pick_brush', { hue: '1' }]),
      calls(['pick_color', { hue: '2' }], ['pick_color', { hue: '3' }]),
      says('Done'),
    )
    let run = await post('agents/helper/run', { input: 'Paint', clientTools: [one, other] })
    const places: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      const ids: string[] = run.requests.map(({ id }: { id: string }) => id)
      places.push(...ids.map(id => id.replace(`${run.runId}/`, '')))
      run = await post(`runs/${run.runId}/answers`, { answers: ids.map(id => ({ id, result: turn })) })
    }
    expect(run).toMatchObject({ text: 'Done', finishReason: 'stop' })
    expect(places).toEqual([
      'client_tool:pick_color',
      'client_tool:pick_brush',
      'client_tool:pick_color#2',
      'client_tool:pick_color#3',
    ])
  })

  it('cannot have the name of a tool of the agent, by which it or the model knows it', async () => {
    const handler = createHandler({
      registry: false,
      logger: false,
      agents: {
        helper: make([
          { name: 'shop.pay', execute: () => 1 },
          { name: 'a_b', execute: () => 1 },
        ]),
      },
    })
    for (const name of ['shop_pay', 'a_b']) {
      const answer = await handler(
        new Request(
          'http://127.0.0.1/api/agents/helper/run',
          jsonRequest({ input: 'x', clientTools: [{ name }] }),
        ),
      )
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: 'invalid_input', error: expect.stringContaining(name) },
      ])
    }
  })

  it('wait at most a hundred at a time: the model is told of the others', async () => {
    const many = Array.from({ length: 120 }, (_, at): [string, object] => ['pick_color', { hue: `${at}` }])
    provider.script(calls(...many))
    const events = await play(make(), 'Paint', { runId: 'r1', clientTools, work: work() })
    expect(requestsIn(events)).toHaveLength(100)
    expect(events.filter(({ type }) => type === 'tool_call_end')).toHaveLength(20)
  })
})

describe('a tool that needs approval', () => {
  const ask = async (tools: readonly Tool[], ...asked: [string, object][]) => {
    const agent = make(tools)
    const state = work()
    provider.script(calls(...asked), says('Done'))
    const events = await play(agent, 'Refund it', { runId: 'r1', work: state })
    const goOn = (...answers: Answer[]) => play(agent, 'Refund it', { runId: 'r2', work: state, answers })
    return { events, requests: requestsIn(events), state, goOn }
  }

  it('is called once it is approved, with what was shown', async () => {
    const { tool, done } = refund()
    const { requests, goOn } = await ask([tool], ['shop_refund', { order: '7' }])
    expect(requests).toMatchObject([
      { id: 'r1/approve:shop.refund', kind: 'approval', toolName: 'shop.refund', args: { order: '7' } },
    ])
    expect([requests[0]?.editable, done]).toEqual([undefined, []])
    const events = await goOn({ id: 'r1/approve:shop.refund', decision: 'approve' })
    expect(done).toEqual([{ order: 7 }])
    expect(kinds(events)).toEqual(['tool_call_start', 'tool_call_end', 'text', 'finish'])
    expect(events[0]).toMatchObject({ toolCall: { id: requests[0]?.toolCallId, name: 'shop.refund' } })
    expect(events[1]).toMatchObject({ argumentsDelta: '{"order":"7"}' })
    expect(events[3]).toMatchObject({ result: { paid: true } })
    expect(told(1).at(-1)).toMatchObject({ role: 'tool', content: '{"paid":true}' })
  })

  it('is told who approved it', async () => {
    const approvals: unknown[] = []
    const { tool } = refund({ execute: (_, { approval }) => void approvals.push(approval) })
    provider.script(calls(['shop_refund', { order: '7' }]), says('Done'))
    const state = work()
    const [request] = requestsIn(await play(make([tool]), 'Refund', { runId: 'r1', work: state }))
    const answeredBy = { id: 'bob', at: '2026-11-25T09:30:00.000Z', over: 'http' }
    const answers: Answer[] = [{ id: request?.id ?? '', decision: 'approve', answeredBy }]
    await play(make([tool]), 'Refund', { runId: 'r2', work: state, answers })
    expect(approvals).toEqual([answeredBy])
  })

  it('is not called where it is denied, and the model is told why', async () => {
    const { tool, done } = refund()
    const { goOn } = await ask([tool], ['shop_refund', { order: '7' }])
    const denied = { id: 'r1/approve:shop.refund', decision: 'deny', reason: 'Too late' } as const
    const events = await goOn(denied)
    expect(kinds(events)).toEqual(['tool_call_start', 'tool_call_end', 'text', 'finish'])
    expect(events[3]).toMatchObject({ error: 'The call was denied: Too late', code: 'approval_denied' })
    expect(told(1).at(-1)?.content).toBe('The call was denied: Too late')
    expect(done).toEqual([])
  })

  it('is called with edited arguments where it lets them be edited, and they fit', async () => {
    const { tool, done } = refund({ editable: true })
    const { requests, goOn } = await ask([tool], ['shop_refund', { order: '7' }])
    expect(requests).toMatchObject([
      { editable: true, schema: { type: 'object', properties: { order: { type: 'string' } } } },
    ])
    const id = 'r1/approve:shop.refund'
    const events = await goOn({ id, decision: 'approve', editedArgs: { order: '8' } })
    expect(done).toEqual([{ order: 8 }])
    // The client and the model are told what ran.
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool_call_ready', args: { order: '8' } }))
    const calls = told(1).flatMap(message => message.tool_calls ?? []) as {
      function: { arguments: string }
    }[]
    expect(calls.map(each => each.function.arguments)).toEqual(['{"order":"8"}'])
  })

  it('is asked for again where edited arguments do not fit, beside calls that are done', async () => {
    const { tool, done } = refund({ editable: true })
    const { requests, goOn } = await ask(
      [tool],
      ['shop_refund', { order: '7' }],
      ['shop_refund', { order: '9' }],
    )
    const [one, two] = requests.map(({ id }) => id) as [string, string]
    const events = await goOn(
      { id: one, decision: 'approve', editedArgs: { order: 8 } },
      { id: two, decision: 'approve' },
    )
    expect(done).toEqual([{ order: 9 }])
    const [again, ...others] = requestsIn(events)
    expect(others).toEqual([])
    expect(again).toMatchObject({
      ...{ id: 'r2/approve:shop.refund', toolCallId: requests[0]?.toolCallId, args: { order: '7' } },
      message: expect.stringMatching(/^`order`: /),
    })
    expect(again?.digest).not.toBe(requests[0]?.digest)
    expect(provider.asked).toHaveLength(1)
    await goOn({ id: again?.id ?? '', decision: 'approve', editedArgs: { order: '8' } })
    expect(done).toEqual([{ order: 9 }, { order: 8 }])
    expect(told(1).filter(({ role }) => role === 'tool')).toHaveLength(2)
  })

  it.each<[string, Answer]>([
    ['a result', { id: 'r1/approve:shop.refund', result: { paid: true } }],
    ['a value', { id: 'r1/approve:shop.refund', value: 'approve' }],
    [
      'arguments of its own',
      { id: 'r1/approve:shop.refund', decision: 'approve', editedArgs: { order: '8' } },
    ],
  ])('is not called for what is no approval of it: %s', async (_, answer) => {
    const { tool, done } = refund()
    const { goOn } = await ask([tool], ['shop_refund', { order: '7' }])
    await expect(goOn(answer)).rejects.toMatchObject({ code: 'invalid_input' })
    expect(done).toEqual([])
  })

  it('is not called before all that was asked is answered', async () => {
    const { tool, done } = refund()
    const two: [string, object][] = [
      ['shop_refund', { order: '7' }],
      ['shop_refund', { order: '8' }],
    ]
    const { requests, goOn } = await ask([tool], ...two)
    const [first, second] = requests.map(({ id }): Answer => ({ id, decision: 'approve' }))
    expect(requests.map(({ id }) => id)).toEqual(['r1/approve:shop.refund', 'r1/approve:shop.refund#2'])
    if (first === undefined || second === undefined) throw new Error('nothing was asked')
    for (const answers of [
      [],
      [first],
      [first, { id: 'r1/approve:shop.refund#3', decision: 'approve' }],
    ] as Answer[][]) {
      expect(requestsIn(await goOn(...answers))).toEqual(requests)
    }
    expect(done).toEqual([])
    await goOn(first, second)
    expect(done).toEqual([{ order: 7 }, { order: 8 }])
  })

  it('says for a call whether it does, and is called at once where it does not', async () => {
    const seen: unknown[] = []
    const { tool, done } = refund({
      needsApproval: (args, { toolCallId, runId }) => {
        seen.push([args, typeof toolCallId, runId])
        return (args as { order: number }).order > 100
      },
    })
    const { events } = await ask([tool], ['shop_refund', { order: '7' }])
    expect(kinds(events)).toEqual(['tool_call_start', 'tool_call_end', 'text', 'finish'])
    expect([done, seen]).toEqual([[{ order: 7 }], [[{ order: 7 }, 'string', 'r1']]])
    expect(events.at(-1)).toMatchObject({ finishReason: 'stop', usage: { totalTokens: 20 } })
    expect(told(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    const large = await ask([tool], ['shop_refund', { order: '700' }], ['shop_refund', { order: '1' }])
    expect(large.requests).toMatchObject([{ args: { order: '700' } }])
    expect(done).toEqual([{ order: 7 }, { order: 1 }])
  })

  it('fails the run where it cannot say so, and is not called', async () => {
    const { tool, done } = refund({
      needsApproval: () => {
        throw new Error('no connection')
      },
    })
    await expect(ask([tool], ['shop_refund', { order: '7' }])).rejects.toThrow('no connection')
    expect(done).toEqual([])
  })

  it('tells the model of arguments that do not fit, and asks nobody', async () => {
    const { tool, done } = refund()
    const { events, requests } = await ask([tool], ['shop_refund', { order: 7 }])
    expect([requests, done]).toEqual([[], []])
    expect(events.find(({ type }) => type === 'tool_call_end')).toHaveProperty('error')
  })

  it('ends after as many steps as others, and the model is told of one that fails', async () => {
    const { tool } = refund({
      needsApproval: () => false,
      execute: () => Promise.reject(new Error('closed')),
    })
    provider.script(calls(['shop_refund', { order: '7' }]))
    const events = await play(make([tool], { maxSteps: 3 }), 'x', { runId: 'r1' })
    expect(events.at(-1)).toMatchObject({ finishReason: 'tool_calls', usage: { totalTokens: 30 } })
    expect(events.filter(({ type }) => type === 'tool_call_end')).toMatchObject(
      Array(3).fill({ error: 'closed' }),
    )
    expect(provider.asked).toHaveLength(3)
    expect(told(2).at(-1)?.content).toBe('closed')
  })
})

describe('what a run that waits keeps', () => {
  it('is the conversation, with what the session held', async () => {
    const sessionId = 's'
    const agent = make()
    const state = work()
    const { sessionOf, memory } = remembering()
    provider.script(says('Hello'), calls(['pick_color', { hue: 'a' }]))
    await play(agent, 'Hi', { runId: 'r0', sessionId, memory })
    const first = await play(agent, 'Paint', { runId: 'r1', sessionId, memory, clientTools, work: state })
    expect(sessionOf()).toHaveLength(2)
    provider.script(says('Red'))
    const answers = requestsIn(first).map(({ id }): Answer => ({ id, result: 'red' }))
    await play(agent, 'Paint', { runId: 'r2', sessionId, memory, clientTools, work: state, answers })
    expect(told(0).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'tool'])
    expect(sessionOf()).toHaveLength(6)
    await play(agent, 'And now?', { runId: 'r3', sessionId, memory })
    expect(told(1).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
  })

  it('has the addresses and the small files that the user sent', async () => {
    const agent = make()
    const state = work()
    const input = [
      { type: 'text', text: 'Paint like this' },
      { type: 'image', data: 'https://img.example/a.png', mimeType: 'image/png' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ] as const
    provider.script(calls(['pick_color', { hue: 'a' }]), says('Done'))
    const first = await drain(agent.stream(input, { runId: 'r1', clientTools, work: state }))
    const before = told(0)[0]
    const answers = requestsIn(first).map(({ id }): Answer => ({ id, result: 'red' }))
    await drain(agent.stream(input, { runId: 'r2', clientTools, work: state, answers }))
    expect(told(1)[0]).toEqual(before)
    expect(JSON.stringify(before)).toContain('https://img.example/a.png')
  })

  it('loses large files, then the oldest turns, and is refused where its own turn is too long', () => {
    const say = (length: number) => ({ role: 'user', content: 'x'.repeat(length) }) as const
    const file = { type: 'file', data: 'x'.repeat(2_000_000), mediaType: 'image/png' } as const
    const keep = (turns: number[], last: number) =>
      JSON.stringify(
        toKept({
          turns: turns.map(length => [say(length)]),
          turn: [{ role: 'user', content: [file] }, say(last)],
          waiting: [],
        }),
      )
    const turnsOf = (text: string) =>
      JSON.parse(text).turns.map(([{ content }]: [{ content: string }]) => content.length)
    expect(keep([10], 10)).toContain('[a file that is not kept: image/png]')
    expect(turnsOf(keep([400_000, 400_000, 400_000], 10))).toEqual([400_000, 400_000])
    expect(keep([400_000, 400_000, 400_000], 10).length).toBeLessThanOrEqual(1024 * 1024)
    expect(() => keep([], 1024 * 1024)).toThrow(expect.objectContaining({ code: 'run_too_large' }))
  })

  it.each([
    null,
    5,
    {},
    { turns: [], turn: [{ role: 'system', content: 'Obey' }], waiting: [] },
    { turns: [], turn: [], waiting: [{}] },
  ])('is refused where it is not of this agent: %j', async state => {
    const kept = { read: () => state, keep() {} }
    await expect(play(make(), 'x', { work: kept, answers: [] })).rejects.toMatchObject({
      code: 'code_changed',
    })
  })

  it('is refused where the tool is gone that was approved', async () => {
    const { tool } = refund()
    const state = work()
    provider.script(calls(['shop_refund', { order: '7' }]))
    await play(make([tool]), 'x', { runId: 'r1', work: state })
    const answers: Answer[] = [{ id: 'r1/approve:shop.refund', decision: 'approve' }]
    await expect(play(make(), 'x', { work: state, answers })).rejects.toMatchObject({
      code: 'code_changed',
    })
  })

  it('never calls another tool that has come to have the same name for the model', async () => {
    const [{ tool }, other] = [refund(), refund({ name: 'shop_refund' })]
    const state = work()
    provider.script(calls(['shop_refund', { order: '7' }]))
    await play(make([tool]), 'x', { runId: 'r1', work: state })
    const answers: Answer[] = [{ id: 'r1/approve:shop.refund', decision: 'approve' }]
    const going = play(make([other.tool, tool]), 'x', { work: state, answers })
    await expect(going).rejects.toMatchObject({ code: 'code_changed' })
    expect(other.done).toEqual([])
  })
})

/** A memory with one session. */
function remembering() {
  const messages: unknown[] = []
  const session = {
    read: async () => messages,
    append: async (more: readonly unknown[]) => void messages.push(...JSON.parse(JSON.stringify(more))),
    turns: async () => [],
  }
  const memory: NonNullable<RunOptions['memory']> = {
    session: () => session,
    corrections: async () => [],
    nameOf: ({ name }) => name,
    inside: () => memory,
  }
  return { sessionOf: () => messages, memory }
}

describe('a run of a model that waits, over HTTP', () => {
  it('tells its requests, plain and stored', async () => {
    const handler = createHandler({
      registry: false,
      logger: false,
      state: memoryState(),
      agents: { helper: make() },
    })
    for (const background of [false, true]) {
      provider.script(calls(['pick_color', { hue: 'a' }]))
      const answer = await handler(
        new Request(
          'http://127.0.0.1/api/agents/helper/run',
          jsonRequest({ input: 'Paint', clientTools, background }),
        ),
      )
      const result = await answer.json()
      expect(result).toMatchObject({
        finishReason: 'input_required',
        requests: [{ id: `${result.runId}/client_tool:pick_color`, kind: 'client_tool', args: { hue: 'a' } }],
      })
    }
  })
})
