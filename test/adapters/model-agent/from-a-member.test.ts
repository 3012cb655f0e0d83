/** A run of a team with a lead that goes on after a call of another run, its lead's or a member's. */
import { expect, it } from 'vitest'
import { lead, ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { createClient, type RunEvent } from '../../../src/client/index.ts'
import { Team } from '../../../src/index.ts'
import { restarting } from '../../contracts/fixture/restarting.ts'
import { modelOf, type Round, toolOf, World } from './cutting.ts'

it('gives what that run gave, after any call', async () => {
  const world = new World()
  const memberOf = (name: string) => {
    const rounds: Round[] = [0, 1].map(at => ({
      says: [`${name} ${at} `],
      calls: [{ id: `${name}_${at}`, tool: 'quick', args: { label: `${name} ${at}` } }],
    }))
    const tools = [toolOf('quick', world)]
    return new ModelAgent({ name, model: modelOf(name, rounds, world), register: false, tools })
  }
  const members = [memberOf('one'), memberOf('two')]
  const asks = (at: number, ...names: string[]): Round => ({
    says: [`lead ${at} `],
    calls: names.map((name, call) => ({
      id: `lead_${at}_${call}`,
      tool: `ask_${name}`,
      args: { input: 'go' },
    })),
  })
  const rounds = [asks(0, 'one', 'two'), asks(1, 'two'), asks(2, 'one', 'one')]
  const desk = new Team({
    name: 'desk',
    register: false,
    members,
    resume: true,
    strategy: lead({ model: modelOf('lead', rounds, world) }),
  })
  const { fetch } = restarting({ teams: { desk }, runs: { keepInput: true, keepJournal: true } })
  const client = createClient({ baseUrl: 'http://127.0.0.1/api', fetch })
  const { id } = await client.runs.start({ kind: 'team', name: 'desk' }, 'go')
  const { text } = await client.runs.result(id)
  const { events } = await client.runs.events(id)
  const ends = events
    .map(({ event }) => event as RunEvent)
    .flatMap(event => (event.type === 'tool_call_end' ? [event] : []))
  expect(ends.map(({ error }) => error)).toEqual(ends.map(() => undefined))
  const seen = new Set<string>()
  for (const { toolCallId: from } of ends) {
    if (seen.has(from)) continue
    seen.add(from)
    const next = await client.runs.retry(id, { from })
    expect([from, (await next.result()).text]).toEqual([from, text])
    expect([from, await client.runs.get(next.id)]).toMatchObject([from, { status: 'completed' }])
  }
})
