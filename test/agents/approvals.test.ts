import { expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  EventBus,
  type InputRequest,
  Registry,
  sequence,
  Team,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'

/** Hears what buses tell of approvals. */
function hear(events: EventBus) {
  const heard: unknown[] = []
  events.on('tool.approval.request', payload => heard.push(payload))
  events.on('tool.approval.response', payload => heard.push(payload))
  return heard
}

it.each(['approve', 'deny'] as const)(
  'the buses of a team and of its member tell of an approval: %s',
  async decision => {
    const buses = { team: new EventBus(), member: new EventBus() }
    const member = new Agent({
      name: 'clerk',
      register: false,
      events: buses.member,
      tools: [{ name: 'refund', needsApproval: true, execute: () => 'refunded' }],
      async *run(_, { ask, callTool }) {
        yield* callTool('refund', { amount: 5 })
        yield* ask('size')
      },
    })
    const team = new Team({
      name: 'desk',
      register: false,
      members: [member],
      strategy: sequence,
      events: buses.team,
    })
    const handler = createHandler({ teams: { desk: team }, registry: new Registry(), logger: false })
    const post = async (path: string, body: object) => {
      const init = jsonRequest(body)
      const response = await handler(new Request(`http://127.0.0.1/api/${path}`, init))
      return {
        id: response.headers.get('x-run-id'),
        ...((await response.json()) as { requests: readonly [InputRequest] }),
      }
    }
    const [byTeam, byMember] = [hear(buses.team), hear(buses.member)]
    const { id: runId, requests } = await post('teams/desk/run', { input: 'x' })
    const [{ id: requestId, toolCallId }] = requests
    const next = await post(`runs/${runId}/answers`, { answers: [{ id: requestId, decision }] })
    const told = { toolCallId, toolName: 'refund', requestId }
    const of = (kind: string, name: string) => [
      { kind, name, runId, ...told },
      { kind, name, runId: next.id, ...told, decision },
    ]
    expect(byTeam).toEqual(of('team', 'desk'))
    expect(byMember).toEqual(of('agent', 'clerk'))
    // The run that goes on after that was told of no approval.
    const [{ id: size }] = next.requests ?? [{ id: '' }]
    if (decision === 'approve') await post(`runs/${next.id}/answers`, { answers: [{ id: size, value: 'M' }] })
    expect(byTeam).toHaveLength(2)
    expect(byMember).toHaveLength(2)
  },
)
