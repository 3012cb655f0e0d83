/** Who says what inside of a run, and inside of what. */
import { describe, expect, it } from 'vitest'
import {
  Agent,
  type AgentConfig,
  parallel,
  type RunEvent,
  routeTo,
  sequence,
  steps,
  Team,
  type TeamStrategy,
  textOf,
  Workflow,
} from '../../src/index.ts'
import { drain, speaker } from '../support.ts'

const artifact: RunEvent = { type: 'artifact', artifactId: 'x', parts: [] }
const message: RunEvent = { type: 'message', parts: [] }
const thinking: RunEvent = { type: 'thinking', text: 'hm' }
const modelCall: RunEvent = { type: 'model_call', model: 'a/b' }

const teamOf = (name: string, strategy: TeamStrategy, ...members: Agent[]) =>
  new Team({ name, strategy, members, register: false })

const agentOf = (name: string, run: AgentConfig['run']) =>
  new Agent({ name, run, register: false, tools: [{ name: 'add', execute: () => 3 }] })

/** An agent that runs a servable as it is. */
const around = (name: string, inner: Team | Workflow) =>
  agentOf(name, (input, context) => inner.stream(input, context) as never)

/** `type agent parentId`, and of steps `step id status agent parentId`. */
const told = (events: readonly RunEvent[]) =>
  events.map(event => {
    const what = event.type === 'step' ? `step ${event.id} ${event.status}` : event.type
    return `${what} ${event.agent ?? '-'} ${event.parentId ?? '-'}`
  })

describe('what a member of a team says', () => {
  it('has its name and the step of its turn, of whatever type it is', async () => {
    const member = agentOf('m', async function* (_, { callTool }) {
      yield 'x'
      yield* [thinking, artifact, message, modelCall]
      yield* callTool('add', {})
    })
    const events = await drain(
      teamOf(
        't',
        routeTo(() => 'm'),
        member,
      ).stream('hi'),
    )
    const types = ['text', 'thinking', 'artifact', 'message', 'model_call']
    const tools = ['start', 'delta', 'ready', 'end'].map(part => `tool_call_${part}`)
    expect(told(events)).toEqual([
      'step m started - -',
      ...[...types, ...tools].map(type => `${type} m m`),
      'step m completed - -',
      'finish - -',
    ])
  })

  it('is progress of its step where it is not the last', async () => {
    const events = await drain(teamOf('t', sequence, speaker('a', 'x'), speaker('b', 'y')).stream('hi'))
    expect(told(events)).toEqual([
      'step a started - -',
      'step a progress a -',
      'step a completed - -',
      'step b started - -',
      'text b b',
      'step b completed - -',
      'finish - -',
    ])
  })

  it('is told apart from what others say at the same time', async () => {
    const events = await drain(teamOf('t', parallel, speaker('a', 'x'), speaker('b', 'y')).stream('hi'))
    expect(events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'x', agent: 'a', parentId: 'a' },
      { type: 'text', text: '\n\ny', agent: 'b', parentId: 'b' },
    ])
  })

  it('keeps the innermost name and step, and the paths of steps are those of the whole run', async () => {
    const inner = teamOf('inner', sequence, speaker('a', 'x'), speaker('b', 'y'))
    const outer = teamOf(
      'outer',
      async function* (input, { call }) {
        yield* call('m', input)
        yield* call('m', input)
      },
      around('m', inner),
    )
    const turn = (id: string) => [
      `step ${id} started - -`,
      `step ${id}/a started m ${id}`,
      `step ${id}/a progress a ${id}`,
      `step ${id}/a completed m ${id}`,
      `step ${id}/b started m ${id}`,
      `text b ${id}/b`,
      `step ${id}/b completed m ${id}`,
      `step ${id} completed - -`,
    ]
    expect(told(await drain(outer.stream('hi')))).toEqual([...turn('m'), ...turn('m#2'), 'finish - -'])
  })

  it('is told of a step that fails as well, with what was thrown for the log alone', async () => {
    const broken = agentOf('m', () => Promise.reject(new Error('no')))
    const seen: RunEvent[] = []
    const run = async () => {
      for await (const event of teamOf('t', sequence, broken).stream('hi')) seen.push(event)
    }
    await expect(run()).rejects.toThrow('no')
    expect(told(seen)).toEqual(['step m started - -', 'step m failed - -'])
  })
})

describe('what a step of a workflow says', () => {
  it('has the id of its step, and the name of the agent that it calls', async () => {
    const workflow = new Workflow({
      name: 'w',
      register: false,
      steps: steps()
        .step('first', async function* (input, { call }) {
          yield 'own'
          return (yield* call(speaker('a', 'x', thinking), input)).text
        })
        .step('last', async function* (text, { call }) {
          yield 'own'
          yield* call(teamOf('t', sequence, speaker('b', text)), text)
          return yield* call(teamOf('t', sequence, speaker('b', text)), text)
        }),
    })
    expect(told(await drain(workflow.stream('hi')))).toEqual([
      'step first started - -',
      'step first progress - -',
      'step first progress a -',
      'thinking a first',
      'step first completed - -',
      'step last started - -',
      'text - last',
      'step last/t/b started t last',
      'text b last/t/b',
      'step last/t/b completed t last',
      'step last/t#2/b started t last',
      'text b last/t#2/b',
      'step last/t#2/b completed t last',
      'step last completed - -',
      'finish - -',
    ])
  })

  it('says without steps of its own who says it', async () => {
    const workflow = new Workflow({
      name: 'w',
      register: false,
      async *run(input, { call }) {
        yield* call(speaker('a', textOf(input)), input)
      },
    })
    expect(told(await drain(workflow.stream('hi')))).toEqual(['text a -', 'finish - -'])
  })
})
