/** The ways in which another person decides what somebody asked. */
import { expect } from 'vitest'
import { type Client, clientOf as onSocket, plain, stock } from '../gateway/client.ts'
import { expectProblem } from '../http/client.ts'
import { ask, list } from '../runs/client.ts'
import { type Asked, as, asked, bobOf, clientOf, decide, get, type Server, wentOn } from './client.ts'
import { approveTask, askedTask, completedTask, getTask } from './tasks.ts'

/** Approves over a transport. The result gives all that the approver has been told so far. */
type Approve = (server: Server, asked: Asked, who: string) => Promise<() => string>

const overHttp: Approve = async (server, asked, who) => {
  const { text } = await decide(server, asked, who)
  return () => text
}

const overStream: Approve = async (server, asked, who) => {
  const { text } = await decide(server, asked, who, {}, { accept: 'text/event-stream' })
  return () => text
}

/** Approves with an open socket. */
export async function tell(client: Client, { id, requests }: Asked): Promise<() => string> {
  const answers = [{ id: requests[0]?.id, decision: 'approve' }]
  const ack = await client.ask('run.answers', { runId: id, answers, apiKey: 'sk-of-bob-0123456789' })
  expect(ack).toMatchObject({ goesOn: true })
  return () => JSON.stringify([ack, client.got])
}

/** The stock client of somebody. */
export const socketOf = (server: Server, who: string): Client =>
  onSocket(stock(server, { extraHeaders: as(who) }))

const overPlainSocket: Approve = async (server, asked, who) =>
  tell(await plain(server, { headers: as(who) }), asked)

const overSocket: Approve = (server, asked, who) => tell(socketOf(server, who), asked)

const withClient: Approve = async (server, { requests, id }, who) => {
  const { approvals } = await clientOf(server, who).approvals.list({ whose: 'others' })
  expect(approvals.map(({ run }) => run.id)).toEqual([id])
  expect(approvals[0]?.request).toEqual(requests[0])
  const decided = await clientOf(server, who).approvals.decide(approvals[0]!, { decision: 'approve' })
  expect(decided).toMatchObject({ goesOn: true, next: undefined })
  return () => JSON.stringify(decided)
}

/** The ways to decide of a run. */
export const TRANSPORTS: Readonly<Record<string, Approve>> = {
  'over HTTP': overHttp,
  'as a stream': overStream,
  'over the socket': overSocket,
  'over a plain socket': overPlainSocket,
  'with the client': withClient,
}

/** What waits, how another person approves it, and what becomes of it. */
export interface Way {
  ask(server: Server): Promise<Asked>
  /** The name of its object, where each has one. */
  objectOf(asked: Asked): string
  readonly approve: Approve
  /** What was said to the asker in the end. */
  said(server: Server, asked: Asked): Promise<string>
  /** Expects that somebody is shown nothing of it. */
  expectHidden(server: Server, asked: Asked, who: string): Promise<void>
}

const ofRun = {
  ask: (server: Server) => asked(server),
  objectOf: ({ id }: Asked) => id,
  async said(server: Server, asked: Asked): Promise<string> {
    const { status, result } = await wentOn(server, asked)
    expect(status).toBe('completed')
    return result?.text ?? ''
  },
  async expectHidden(server: Server, { id, ann }: Asked, who: string): Promise<void> {
    const { continuedBy } = await get(server, id, as(ann))
    for (const each of [id, continuedBy]) {
      const answer = await ask(server, `/api/runs/${each}`, { headers: as(who) })
      await expectProblem(server, answer, 404, 'run_not_found')
    }
    expect((await list(server, '', as(who))).runs).toEqual([])
  },
}

const ofTask: Way = {
  ask: server => askedTask(server),
  objectOf: ({ id }) => `task:${id}`,
  async approve(server, asked, who) {
    const { result } = await approveTask(server, asked, who)
    expect(result?.message?.parts).toEqual([{ data: { id: asked.id, goesOn: true } }])
    return () => JSON.stringify(result)
  },
  said: completedTask,
  async expectHidden(server, { id }, who) {
    const { result, error } = await getTask(server, who, id)
    expect(result).toBeUndefined()
    expect(error?.message).toContain('not found')
  },
}

/** The ways to decide of runs and of tasks. */
export const WAYS: readonly (readonly [name: string, Way])[] = [
  ...Object.entries(TRANSPORTS).map(([name, approve]): [string, Way] => [name, { ...ofRun, approve }]),
  ['over A2A', ofTask],
]

/** Another person approves: it goes on as its asker's to the end, and the other one learns nothing of that. */
export async function expectGoesOn(server: Server, way: Way, waiting: Asked): Promise<string> {
  const bob = bobOf(waiting)
  const told = await way.approve(server, waiting, bob)
  const said = await way.said(server, waiting)
  expect(said).toContain(`paid 5 by ${waiting.ann} in `)
  expect(said).toContain('with no key')
  expect(told()).not.toMatch(/paid|no key/)
  await way.expectHidden(server, waiting, bob)
  return said
}
