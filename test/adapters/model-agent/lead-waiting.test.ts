/** Teams with a lead whose members wait for someone: the run that goes on asks the lead's model on, and not again. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { lead, ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import type { ToolServers } from '../../../src/agents/tool-servers.ts'
import {
  Agent,
  type Answer,
  createHandler,
  type InputRequest,
  memoryState,
  type RunEvent,
  type RunResult,
  type ServableAgent,
  Team,
  type Tool,
  textOf,
  Workflow,
} from '../../../src/index.ts'
import { talk } from '../../agents/talk.ts'
import { calls, countedCalls, type Answer as Line, type Provider, says, startProvider } from './provider.ts'

let leading: Provider
let working: Provider
beforeAll(async () => {
  ;[leading, working] = await Promise.all([startProvider(), startProvider()])
})
afterAll(() => Promise.all([leading.stop(), working.stop()]))

const modelAt = (provider: () => Provider) => () =>
  createOpenAICompatible({ name: 'provider-a', baseURL: provider().url, apiKey: 'k', includeUsage: true })(
    'm',
  )

const deskOf = (members: readonly ServableAgent[]) =>
  new Team({
    name: 'desk',
    register: false,
    members,
    strategy: lead({ model: modelAt(() => leading) }),
  })

/** Asks for each name in turn, and notes how often it was begun. */
function asking(name: string, ...questions: string[]) {
  const begun: string[] = []
  const agent = new Agent({
    name,
    register: false,
    async *run(input, { ask }) {
      begun.push(textOf(input))
      const told: unknown[] = []
      yield `${name}: `
      for (const question of questions) told.push(yield* ask(question))
      yield `${textOf(input)} ${told.join()}`
      return { usage: { promptTokens: 50, completionTokens: 50, totalTokens: 100 } }
    },
  })
  return { agent, begun }
}

/** Answers at once, and notes what it was asked. */
function knowing(name = 'clerk') {
  const asked: string[] = []
  const agent = new Agent({
    name,
    register: false,
    async *run(input) {
      asked.push(textOf(input))
      yield `known ${textOf(input)}`
      return { usage: { promptTokens: 500, completionTokens: 500, totalTokens: 1000 } }
    },
  })
  return { agent, asked }
}

interface Told extends RunResult {
  readonly status?: string
  readonly requests?: readonly InputRequest[]
}

/** A service with a team, as a client sees it. */
function serve(team: Team) {
  const handler = createHandler({
    registry: false,
    logger: false,
    state: memoryState(),
    teams: { desk: team },
  })
  const post = (path: string, body: object, accept = 'application/json') => {
    const headers = { 'content-type': 'application/json', accept }
    return handler(
      new Request(`http://127.0.0.1/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
    )
  }
  return {
    async run(input: string, more: object = {}): Promise<Told> {
      return (await post('/teams/desk/run', { input, ...more })).json()
    },
    async answer(runId: string, ...answers: Answer[]): Promise<Told> {
      return (await post(`/runs/${runId}/answers`, { answers })).json()
    },
    async stream(runId: string, ...answers: Answer[]): Promise<RunEvent[]> {
      const text = await (await post(`/runs/${runId}/answers`, { answers }, 'text/event-stream')).text()
      return text.split('\n').flatMap(line => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
    },
  }
}

const script = (...lines: Line[]) => leading.script(...lines, says('Nothing was left to say'))
const pathsOf = ({ runId, requests = [] }: Told) => requests.map(({ id }) => id.replace(`${runId}/`, ''))
const to = ({ requests = [] }: Told, value: unknown, place = 0): Answer => ({
  id: requests[place]?.id ?? '',
  value,
})
/** What the lead's model was told last: the roles, and the results of its calls. */
const told = () => {
  const messages = leading.asked.at(-1)?.body.messages ?? []
  return {
    roles: messages.map(({ role }) => role).join(' '),
    results: messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
  }
}

describe('a member of a lead that waits', () => {
  it('goes on where it waited, and the model is asked on', async () => {
    const { agent, begun } = asking('tailor', 'size')
    const desk = serve(deskOf([agent]))
    script(calls(['ask_tailor', { input: 'a shirt' }]), says('It is sewn'))
    const first = await desk.run('A shirt')
    expect(first.finishReason).toBe('input_required')
    expect(pathsOf(first)).toEqual(['tailor/size'])
    expect(first.usage.totalTokens).toBe(10)
    expect(leading.asked).toHaveLength(1)
    const last = await desk.answer(first.runId, to(first, 'M'))
    expect(last).toMatchObject({ text: 'It is sewn', finishReason: 'stop' })
    expect(last.usage.totalTokens).toBe(10 + 100)
    expect(leading.asked).toHaveLength(2)
    expect(told()).toEqual({ roles: 'user assistant tool', results: ['tailor: a shirt M'] })
    expect(begun).toEqual(['a shirt', 'a shirt'])
  })

  it('is told with the ids that the call and the step had', async () => {
    const desk = serve(deskOf([asking('tailor', 'size').agent]))
    script(calls(['ask_tailor', { input: 'a shirt' }]), says('done'))
    const first = await desk.run('A shirt')
    const [call] = first.toolCalls
    expect(call).toMatchObject({ toolName: 'ask_tailor', args: { input: 'a shirt' } })
    const events = await desk.stream(first.runId, to(first, 'M'))
    expect(events.flatMap(event => (event.type === 'tool_call_start' ? [event.toolCall] : []))).toEqual([
      { id: call?.toolCallId, name: 'ask_tailor' },
    ])
    const inside = events.filter(({ parentId }) => parentId === call?.toolCallId)
    expect(
      inside.map(event => (event.type === 'step' ? [event.id, event.status, event.text] : event)),
    ).toEqual([
      ['tailor', 'started', undefined],
      ['tailor', 'progress', 'a shirt M'],
      ['tailor', 'completed', undefined],
    ])
    expect(events.flatMap(event => (event.type === 'tool_call_end' ? [event.result] : []))).toEqual([
      'tailor: a shirt M',
    ])
  })

  it('may ask again, as often as it likes', async () => {
    const desk = serve(deskOf([asking('tailor', 'size', 'color', 'size').agent]))
    script(calls(['ask_tailor', { input: 'a shirt' }]), says('done'))
    let now = await desk.run('A shirt')
    for (const [path, value] of [
      ['tailor/size', 'M'],
      ['tailor/color', 'red'],
      ['tailor/size#2', 'L'],
    ]) {
      expect(pathsOf(now)).toEqual([path])
      expect(leading.asked).toHaveLength(1)
      now = await desk.answer(now.runId, to(now, value))
    }
    expect(now.text).toBe('done')
    expect(told().results).toEqual(['tailor: a shirt M,red,L'])
  })

  it.each(['before', 'after'])('keeps what one that was asked %s it has said', async place => {
    const { agent: tailor } = asking('tailor', 'size')
    const { agent: clerk, asked } = knowing()
    const desk = serve(deskOf([tailor, clerk]))
    const two: [string, object][] = [
      ['ask_clerk', { input: 'the price' }],
      ['ask_tailor', { input: 'a shirt' }],
    ]
    script(calls(...(place === 'before' ? two : two.toReversed())), says('done'))
    const first = await desk.run('A shirt')
    expect(pathsOf(first)).toEqual(['tailor/size'])
    expect(first.usage.totalTokens).toBe(10 + 1000)
    expect(first.toolCalls.map(({ result }) => result).filter(Boolean)).toEqual(['known the price'])
    const last = await desk.answer(first.runId, to(first, 'M'))
    expect(last.text).toBe('done')
    expect(last.usage.totalTokens).toBe(10 + 100)
    expect(last.toolCalls.map(({ toolName }) => toolName)).toEqual(['ask_tailor'])
    expect(told()).toEqual({
      roles: 'user assistant tool tool',
      results: ['known the price', 'tailor: a shirt M'],
    })
    expect(asked).toEqual(['the price'])
  })

  it('waits together with others: each is answered by itself', async () => {
    const desk = serve(deskOf([asking('tailor', 'size').agent, asking('painter', 'color').agent]))
    script(calls(['ask_tailor', { input: 'sew' }], ['ask_painter', { input: 'paint' }]), says('done'))
    const first = await desk.run('A red shirt')
    expect(pathsOf(first)).toEqual(['tailor/size', 'painter/color'])
    const left = await desk.answer(first.runId, to(first, 'red', 1))
    expect(left.requests?.map(({ id }) => id)).toEqual([first.requests?.[0]?.id])
    expect(leading.asked).toHaveLength(1)
    const last = await desk.answer(first.runId, to(first, 'M'))
    expect(last.text).toBe('done')
    expect(leading.asked).toHaveLength(2)
    expect(told().results).toEqual(['tailor: sew M', 'painter: paint red'])
  })

  it('waits longer than others: what these said then is kept', async () => {
    const painter = asking('painter', 'color')
    const desk = serve(deskOf([asking('tailor', 'size', 'length').agent, painter.agent]))
    script(calls(['ask_tailor', { input: 'sew' }], ['ask_painter', { input: 'paint' }]), says('done'))
    const first = await desk.run('A red shirt')
    const second = await desk.answer(first.runId, to(first, 'M'), to(first, 'red', 1))
    expect(pathsOf(second)).toEqual(['tailor/length'])
    expect(second.usage.totalTokens).toBe(100)
    const last = await desk.answer(second.runId, to(second, 'long'))
    expect(last.text).toBe('done')
    expect(leading.asked).toHaveLength(2)
    expect(told().results).toEqual(['painter: paint red', 'tailor: sew M,long'])
    expect(painter.begun).toHaveLength(2)
  })

  it('may be asked several times, at once and one after the other', async () => {
    const desk = serve(deskOf([asking('tailor', 'size').agent, knowing().agent]))
    script(
      calls(['ask_tailor', { input: 'zero' }], ['ask_clerk', { input: 'a' }], ['ask_tailor', {}]),
      calls(
        ['ask_tailor', { input: 'one' }],
        ['ask_tailor', { input: 'two' }],
        ['ask_clerk', { input: 'b' }],
      ),
      calls(['ask_clerk', { input: 'c' }]),
      says('done'),
    )
    const first = await desk.run('Shirts')
    expect(pathsOf(first)).toEqual(['tailor/size'])
    const second = await desk.answer(first.runId, to(first, 'S'))
    expect(pathsOf(second)).toEqual(['tailor#2/size', 'tailor#3/size'])
    const last = await desk.answer(second.runId, to(second, 'L', 1), to(second, 'M'))
    expect(last.text).toBe('done')
    expect(leading.asked).toHaveLength(4)
    expect(told().results).toEqual([
      expect.stringContaining('input'),
      'known a',
      'tailor: zero S',
      'known b',
      'tailor: one M',
      'tailor: two L',
      'known c',
    ])
  })

  it('may be one that has ended when another one of its turns goes on', async () => {
    const sometimes = new Agent({
      name: 'tailor',
      register: false,
      async *run(input, { ask }) {
        const text = textOf(input)
        if (text === 'broken') throw new Error('no thread')
        yield text === 'quick' ? 'quick' : `${text} ${yield* ask('size')}`
      },
    })
    const desk = serve(deskOf([sometimes]))
    const turns = ['quick', 'one', 'broken', 'two']
    script(calls(...turns.map((input): [string, object] => ['ask_tailor', { input }])), says('done'))
    const first = await desk.run('Shirts')
    expect(pathsOf(first)).toEqual(['tailor#2/size', 'tailor#4/size'])
    const last = await desk.answer(first.runId, to(first, 'M'), to(first, 'L', 1))
    expect(last.text).toBe('done')
    expect(told().results).toEqual(['quick', 'no thread', 'one M', 'two L'])
  })

  it('is found where the ids of calls come again in every step', async () => {
    const desk = serve(deskOf([asking('tailor', 'size').agent, knowing().agent]))
    script(
      countedCalls(['ask_clerk', { input: 'a' }]),
      countedCalls(['ask_tailor', { input: 'one' }], ['ask_clerk', { input: 'b' }]),
      countedCalls(['ask_tailor', { input: 'two' }]),
      says('done'),
    )
    const first = await desk.run('Shirts')
    expect(pathsOf(first)).toEqual(['tailor/size'])
    const second = await desk.answer(first.runId, to(first, 'M'))
    expect(pathsOf(second)).toEqual(['tailor#2/size'])
    const last = await desk.answer(second.runId, to(second, 'L'))
    expect(last.text).toBe('done')
    expect(told().results).toEqual(['known a', 'known b', 'tailor: one M', 'tailor: two L'])
  })

  it('may call a tool of a tool server that asks', async () => {
    const rounds: unknown[] = []
    const manager = new ToolServerManager({ register: false })
    manager.use({
      needsApproval: async () => false,
      async round(_: string, args: unknown, answers: unknown) {
        rounds.push([args, answers])
        if (answers !== undefined) return { result: 'ordered' }
        const schema = { type: 'object', properties: { size: { type: 'string' } } }
        return { questions: [{ key: 'q', message: 'Which size?', schema }], state: 's' }
      },
    } as unknown as ToolServers)
    const clerk = new Agent({
      ...{ name: 'clerk', register: false },
      async *run(input, context) {
        yield String(yield* manager.call(context, 'shop.order', { item: textOf(input) }))
      },
    })
    const desk = serve(deskOf([clerk]))
    script(calls(['ask_clerk', { input: 'a shirt' }]), says('done'))
    const first = await desk.run('Shirts')
    expect(first.requests).toMatchObject([
      { kind: 'question', message: '`shop.order` asks: Which size?', schema: { type: ['object', 'null'] } },
    ])
    const last = await desk.answer(first.runId, to(first, { size: 'M' }))
    expect([last.text, told().results]).toEqual(['done', ['ordered']])
    const given = { answers: { q: { action: 'accept', content: { size: 'M' } } }, state: 's' }
    expect(rounds).toEqual([
      [{ item: 'a shirt' }, undefined],
      [{ item: 'a shirt' }, given],
    ])
  })

  it('may have a model of its own, whose tool needs an approval', async () => {
    const paid: unknown[] = []
    const refund: Tool = {
      name: 'refund',
      needsApproval: true,
      execute(args) {
        paid.push(args)
        return 'paid'
      },
    }
    const model = modelAt(() => working)
    const desk = serve(deskOf([new ModelAgent({ name: 'cashier', model, register: false, tools: [refund] })]))
    script(calls(['ask_cashier', { input: 'order 7' }]), says('You have your money'))
    working.script(calls(['refund', { order: 7 }]), says('It is paid'))
    const first = await desk.run('My money back')
    expect(first.requests).toMatchObject([
      { id: `${first.runId}/cashier/approve:refund`, kind: 'approval', args: { order: 7 } },
    ])
    expect(paid).toEqual([])
    const id = first.requests?.[0]?.id ?? ''
    const last = await desk.answer(first.runId, { id, decision: 'approve' })
    expect(last.text).toBe('You have your money')
    expect(paid).toEqual([{ order: 7 }])
    expect([leading.asked.length, working.asked.length]).toEqual([2, 2])
    expect(told().results).toEqual(['It is paid'])
  })
})

describe('a lead that goes on', () => {
  it('remembers the whole turn in its session, once', async () => {
    const desk = serve(deskOf([asking('tailor', 'size').agent]))
    script(calls(['ask_tailor', { input: 'a shirt' }]), says('done'), says('as before'))
    const first = await desk.run('A shirt', { sessionId: 's' })
    await desk.answer(first.runId, to(first, 'M'))
    await desk.run('Again', { sessionId: 's' })
    expect(told().roles).toBe('user assistant tool assistant user')
  })

  it('may ask the members again', async () => {
    const desk = deskOf([asking('tailor', 'size').agent])
    script(calls(['ask_tailor', { input: 'a shirt' }]), calls(['ask_tailor', { input: 'more' }]))
    const first = await talk(desk)
    const second = await first.say('M')
    expect(second.requests.map(({ id }) => id)).toEqual([`${second.id}/tailor#2/size`])
    expect(leading.asked).toHaveLength(2)
  })

  it('may be the lead of a team in a workflow', async () => {
    const desk = deskOf([asking('tailor', 'size').agent, knowing().agent])
    const flow = new Workflow({
      name: 'flow',
      register: false,
      async *run(input, context) {
        yield 'First. '
        for (const color of ['red', 'blue']) yield* context.call(desk, `${textOf(input)} in ${color}`)
      },
    })
    const two: [string, object][] = [
      ['ask_clerk', { input: 'a' }],
      ['ask_tailor', { input: 'b' }],
    ]
    script(calls(...two), says('One. '), calls(...two), says('Two.'))
    const first = await talk(flow)
    expect(first.text).toBe('First. ')
    const second = await first.say('M')
    expect([second.text, second.requests.map(({ id }) => id)]).toEqual([
      'One. ',
      [`${second.id}/desk#2/tailor/size`],
    ])
    const last = await second.say('L')
    expect(last.text).toBe('Two.')
    const called = last.events.flatMap(event =>
      event.type === 'tool_call_start' ? [event.toolCall.name] : [],
    )
    expect(called).toEqual(['ask_tailor'])
    expect(leading.asked).toHaveLength(4)
    expect(told().results).toEqual(['known a', 'tailor: b L'])
  })

  it('is refused where the team has no such member any more', async () => {
    const strategy = lead({ model: modelAt(() => leading) })
    const { agent: tailor } = asking('tailor', 'size')
    let members: readonly ServableAgent[] = [tailor]
    const desk = new Team({
      name: 'desk',
      register: false,
      members: [tailor],
      strategy: (input, context) => strategy(input, { ...context, members }),
    })
    script(calls(['ask_tailor', { input: 'a shirt' }]))
    const first = await talk(desk)
    members = [knowing().agent]
    expect((await first.say('M')).code).toBe('code_changed')
    expect(leading.asked).toHaveLength(1)
  })

  it('fails where nothing can be kept', async () => {
    script(calls(['ask_tailor', { input: 'a shirt' }]))
    const { code } = await talk(deskOf([asking('tailor', 'size').agent]), {
      caller: { whyUnkept: 'Nothing is kept here' },
    })
    expect(code).toBe('runs_not_stored')
  })
})
