/** A run of a model that goes on after a tool call of another run. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { createClient, type RunEvent } from '../../../src/client/index.ts'
import { type Answer, sequence, Team, Workflow } from '../../../src/index.ts'
import { restarting } from '../../contracts/fixture/restarting.ts'
import { modelOf, type Round, toolOf, World } from './cutting.ts'

/** A service with the agent, whose model answers so, and what it has done. */
function served(rounds: readonly Round[]) {
  const world = new World()
  const tools = [
    toolOf('quick', world),
    toolOf('broken', world),
    toolOf('pay', world, { needsApproval: true, editable: true }),
  ]
  const helper = new ModelAgent({
    name: 'helper',
    model: modelOf('model', rounds, world),
    register: false,
    tools,
    resume: true,
  })
  const flow = new Workflow({
    name: 'flow',
    register: false,
    async *run(input, { call }) {
      const { text } = yield* call(helper, input)
      yield `<${text}>`
    },
  })
  const crew = new Team({
    name: 'crew',
    register: false,
    members: [helper],
    strategy: sequence,
    resume: true,
  })
  const { fetch } = restarting({
    agents: { helper },
    workflows: { flow },
    teams: { crew },
    runs: { keepInput: true, keepJournal: true },
  })
  const client = createClient({ baseUrl: 'http://127.0.0.1/api', fetch })
  const run = async (kind: 'agent' | 'team' | 'workflow', name: string) => {
    const { id } = await client.runs.start({ kind, name }, 'go')
    return { id, text: (await client.runs.result(id)).text, events: await eventsOf(id) }
  }
  const eventsOf = async (id: string): Promise<readonly RunEvent[]> => {
    const { events } = await client.runs.events(id)
    return events.map(({ event }) => event as RunEvent)
  }
  return { world, client, run, eventsOf }
}

const endsIn = (events: readonly RunEvent[]) =>
  events.flatMap(event => (event.type === 'tool_call_end' ? [event.toolCallId] : []))

/** Rounds of calls. The label says which call it is; ids may be those of an earlier round. */
const roundsOf = (shape: readonly (readonly string[])[], repeats: boolean): readonly Round[] =>
  shape.map((tools, round) => ({
    says: [`round ${round} `],
    calls: tools.map((tool, call) => {
      const label = `call ${round}.${call}`
      return { id: repeats ? `call_${call}` : label, tool, args: { label } }
    }),
  }))

const shapes = fc.array(fc.array(fc.constantFrom('quick', 'broken'), { minLength: 1, maxLength: 2 }), {
  minLength: 1,
  maxLength: 4,
})

describe('a run that goes on after a call of another run', () => {
  it('gives what that run gave, and does nothing again that was done until then', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.boolean(), fc.boolean(), async (shape, repeats, isInside) => {
        const { world, client, run, eventsOf } = served(roundsOf(shape, repeats))
        const { id, text, events } = await (isInside ? run('workflow', 'flow') : run('agent', 'helper'))
        const calls = endsIn(events)
        expect(calls).toHaveLength(shape.flat().length)
        for (const [place, from] of calls.entries()) {
          const before = new Map(world.begun)
          const next = await client.runs.retry(id, { from })
          expect((await next.result()).text).toBe(text)
          expect(await client.runs.get(next.id)).toMatchObject({ status: 'completed', retryOf: id })
          // Only the calls after it have events.
          expect(endsIn(await eventsOf(next.id))).toHaveLength(calls.length - place - 1)
          const again = [...world.begun].filter(([label, count]) => count > (before.get(label) ?? 0))
          const ofTools = again.filter(([label]) => label.startsWith('call'))
          expect(ofTools).toHaveLength(calls.length - place - 1)
        }
        for (const keys of world.keys.values()) expect(keys.size).toBeGreaterThan(0)
      }),
      { numRuns: 40 },
    )
  })

  it('has idempotency keys of its own for its later calls', async () => {
    const { world, client, run } = served(roundsOf([['quick'], ['quick']], false))
    const { id, events } = await run('agent', 'helper')
    const [first = ''] = endsIn(events)
    await (await client.runs.retry(id, { from: first })).result()
    expect([...world.keys].map(([label, keys]) => [label, keys.size])).toEqual([
      ['call 0.0', 1],
      ['call 1.0', 2],
    ])
  })

  it('asks again about a call that was approved for that run and was not done there yet', async () => {
    const rounds = roundsOf([['pay', 'pay'], ['quick']], false)
    const { world, client, eventsOf } = served(rounds)
    const { id } = await client.runs.start({ kind: 'agent', name: 'helper' }, 'go')
    const { requests = [] } = await client.runs.result(id)
    const [one, two] = requests.map(request => request.id)
    const decision = 'approve' as const
    const answers = [
      { id: one!, decision, editedArgs: { label: 'edited' } },
      { id: two!, decision },
    ]
    const answer = async (run: string, given: readonly Answer[]) => {
      const { next } = await client.runs.answer(run, given)
      return { id: next!.id, text: (await next!.result()).text }
    }
    const on = await answer(id, answers)
    const { text } = on
    const paid = () => ['edited', 'call 0.1'].map(label => world.begun.get(label))
    expect(paid()).toEqual([1, 1])
    const [first = '', second = ''] = endsIn(await eventsOf(on.id))
    const next = await client.runs.retry(on.id, { from: first })
    const { requests: again = [] } = await next.result()
    expect(again).toMatchObject([{ id: `${next.id}/approve:pay#2`, args: { label: 'call 0.1' } }])
    expect(paid()).toEqual([1, 1])
    const last = await answer(next.id, [{ id: again[0]!.id, decision }])
    expect(last.text).toBe(text)
    expect(paid()).toEqual([1, 2])
    // After the last of them nothing is asked again.
    const after = await client.runs.retry(on.id, { from: second })
    expect((await after.result()).text).toBe(text)
    expect(paid()).toEqual([1, 2])
  })

  it('tells the usage of its own calls of models: the others are of the run that made them', async () => {
    const { client, run } = served(roundsOf([['quick'], ['quick']], false))
    for (const [kind, name] of [['agent', 'helper'] as const, ['team', 'crew'] as const]) {
      const { id, events } = await run(kind, name)
      expect((await client.runs.result(id)).usage.totalTokens).toBe(30)
      const last = endsIn(events).at(-1) ?? ''
      const next = await client.runs.retry(id, { from: last })
      expect((await next.result()).usage.totalTokens).toBe(10)
    }
  })
})
