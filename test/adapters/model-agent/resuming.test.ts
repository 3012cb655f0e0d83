/**
 * Runs of a model whose process dies: they go on, and neither the model nor a tool is asked twice for what is kept.
 *
 * @module-tag long
 */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lead, ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { Agent, Team, type Tool, textOf } from '../../../src/index.ts'
import { openDatabase } from '../../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqlStore } from '../../../src/stores/sql/sql.ts'
import type { Store } from '../../../src/stores/store.ts'
import { modelOf, type Played, play, type Round, seen, toolOf, World } from './cutting.ts'

// The clock alone is the tests': they move it over the rests of runs.
beforeEach(() => void vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const call = (tool: string, label: string, id = label) => ({ id, tool, args: { label } })

function agentOf(rounds: readonly Round[], world: World, { resume = true, more = {} } = {}): Agent {
  const tools: Tool[] = [
    toolOf('quick', world),
    toolOf('broken', world),
    toolOf('checked', world, { needsApproval: true }),
    toolOf('sometimes', world, { needsApproval: () => false }),
  ]
  const model = modelOf('model', rounds, world)
  return new ModelAgent({ name: 'helper', model, register: false, tools, resume, ...more })
}

/** The run as it is where no process dies, and how many points it has. */
async function whole(rounds: readonly Round[]) {
  const world = new World()
  const played = await play(agentOf(rounds, world, { resume: false }), world, memoryStore())
  const kept = new World()
  expect(seen(await play(agentOf(rounds, kept), kept, memoryStore()))).toEqual(seen(played))
  return { played, points: kept.passed }
}

/** Nothing that had ended is begun again, and each call of a tool has one end in the logs, and a key of its own. */
function checkOnce({ events, doneBefore }: Played, world: World): void {
  for (const done of doneBefore) expect([done[0], world.begun.get(done[0])]).toEqual(done)
  for (const log of events) {
    const ends = log.flatMap(event => (event.type === 'tool_call_end' ? [event.toolCallId] : []))
    const ofTools = ends.filter(id => world.begun.has(id))
    expect(new Set(ofTools).size).toBe(ofTools.length)
  }
  for (const keys of world.keys.values()) expect(keys.size).toBe(1)
  const all = [...world.keys.values()].flatMap(keys => [...keys])
  expect(new Set(all).size).toBe(all.length)
}

const stores: readonly [string, () => Store][] = [
  ['memory', memoryStore],
  ['SQLite', () => sqlStore(openDatabase(':memory:'))],
]

describe.each(stores)('a model agent whose process dies, over %s', (_, makeStore) => {
  const rounds: Round[] = [
    { says: ['I ', 'look. '], calls: [call('quick', 'a'), call('quick', 'b')] },
    { says: ['Then. '], calls: [call('broken', 'c'), call('sometimes', 'd')] },
    { calls: [{ id: 'e', tool: 'quick', args: {} }] },
    {
      says: ['And. '],
      calls: [call('checked', 'f'), call('checked', 'g'), call('client', 'h'), call('quick', 'i')],
    },
    { calls: [call('quick', 'j')] },
  ]

  it('gives what it would have given, wherever it dies, and pays for nothing twice', async () => {
    const { played, points } = await whole(rounds)
    expect(points).toBeGreaterThan(25)
    for (let at = 0; at < points; at++) {
      const world = new World(at)
      const cut = await play(agentOf(rounds, world), world, makeStore())
      expect(cut.deaths).toBe(1)
      expect([at, seen(cut)]).toEqual([at, seen(played)])
      checkOnce(cut, world)
    }
  })
})

const ask = (member: string, input: string) => ({
  id: `${member}:${input}`,
  tool: `ask_${member}`,
  args: { input },
})

/** A team that a model leads: one member has a model too, one speaks and does a step. */
function teamOf(rounds: readonly Round[], world: World, resume = true): Team {
  const tools = [toolOf('quick', world), toolOf('checked', world, { needsApproval: true })]
  const inner: Round[] = [
    { says: ['Inside. '], calls: [call('quick', 'a'), call('checked', 'b')] },
    { calls: [call('quick', 'c')] },
  ]
  const cashier = new ModelAgent({
    name: 'cashier',
    model: modelOf('inner', inner, world),
    register: false,
    tools,
  })
  const clerk = new Agent({
    name: 'clerk',
    register: false,
    async *run(input, context) {
      const label = textOf(input)
      yield `Clerk ${label} `
      if (label === 'broken') throw new Error('closed')
      world.begin(label)
      await world.point()
      yield* context.step('look', async () => {
        world.begin(`${label} step`)
        await world.point()
        world.end(`${label} step`)
      })
      world.end(label)
      return { usage: { promptTokens: 50, completionTokens: 50, totalTokens: 100 } }
    },
  })
  const strategy = lead({ model: modelOf('lead', rounds, world) })
  return new Team({ name: 'desk', register: false, members: [cashier, clerk], strategy, resume })
}

describe('a team with a lead', () => {
  const rounds: Round[] = [
    { says: ['I ask. '], calls: [ask('clerk', 'one')] },
    {
      says: ['Both. '],
      calls: [ask('cashier', 'pay'), ask('clerk', 'two'), { ...ask('clerk', ''), id: 'unfit' }],
    },
    { calls: [ask('clerk', 'three'), ask('clerk', 'broken')] },
  ]

  it('gives what it would have given, wherever its process dies, and asks nobody twice', async () => {
    const world = new World()
    const played = await play(teamOf(rounds, world, false), world, memoryStore())
    const points = world.passed
    expect(points).toBeGreaterThan(20)
    expect(played.records.map(({ status }) => status)).toEqual(['input_required', 'completed'])
    for (let at = 0; at < points; at++) {
      const cutting = new World(at)
      const cut = await play(teamOf(rounds, cutting), cutting, memoryStore())
      expect([at, cut.deaths, seen(cut)]).toEqual([at, 1, seen(played)])
      checkOnce(cut, cutting)
    }
  })
})

const TOOLS = ['quick', 'broken', 'checked', 'sometimes', 'client', 'unfit'] as const

/** Rounds in which the model calls tools. Some providers count the ids of calls in each of them. */
const anyRounds = fc
  .record({
    isCounted: fc.boolean(),
    rounds: fc.array(
      fc.record({
        says: fc.array(fc.constantFrom('One. ', 'Two. '), { maxLength: 2 }),
        tools: fc.array(fc.constantFrom(...TOOLS), { minLength: 1, maxLength: 4 }),
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ isCounted, rounds }) =>
    rounds.map(
      ({ says, tools }, round): Round => ({
        says,
        calls: tools.map((tool, index) => {
          const label = `${round}.${index}`
          const id = isCounted ? `call_${index}` : label
          return tool === 'unfit' ? { id, tool: 'quick', args: {} } : call(tool, label, id)
        }),
      }),
    ),
  )

describe('a model agent', () => {
  it('gives the same however often its process dies, whatever its model calls', async () => {
    const cuts = fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(anyRounds, cuts, async (rounds, points) => {
        const { played } = await whole(rounds)
        const world = new World(...points.toSorted((one, other) => one - other))
        const cut = await play(agentOf(rounds, world), world, memoryStore())
        expect(withoutUnfit(seen(cut))).toEqual(withoutUnfit(seen(played)))
        checkOnce(cut, world)
      }),
      { numRuns: 60 },
    )
  })
})

/** A call whose arguments do not fit ends while the model still answers: of an answer that is asked for again it stays in the log. */
function withoutUnfit(runs: ReturnType<typeof seen>) {
  return runs.map(({ toolCalls, ...run }) => ({
    ...run,
    toolCalls: toolCalls?.filter(each => !each.includes('InvalidToolInput')),
  }))
}
