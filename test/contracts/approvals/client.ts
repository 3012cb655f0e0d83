/** Asks, decides and looks at the inbox over loopback. */
import { expect } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import type { InputRequest, RunRecord } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import type { Answer } from '../http/client.ts'
import { as, ask, type Fields, get, own, post, type Server } from '../runs/client.ts'

export { as, get, own, post, type Server }

/** A run that waits, and who asks. */
export interface Asked {
  readonly id: string
  readonly requests: readonly InputRequest[]
  readonly ann: string
}

/** Starts a plain run that waits. */
export async function asked(
  server: Server,
  input = '5',
  {
    ann = own('ann'),
    name = 'pays',
    ...body
  }: { ann?: string; name?: string; sessionId?: string; apiKey?: string } = {},
): Promise<Asked> {
  const answer = await post(server, `/api/agents/${name}/run`, { input, ...body }, as(ann))
  expect(answer.status, answer.text).toBe(200)
  const { runId, requests } = JSON.parse(answer.text)
  return { id: runId, requests, ann }
}

export const bobOf = ({ ann }: Asked): string => `bob of ${ann}`

/** Decides what a run asks first. */
export function decide(
  server: Server,
  { id, requests }: Asked,
  who: string,
  more: object = {},
  headers: Fields = {},
): Promise<Answer> {
  const answers = [{ id: requests[0]?.id, decision: 'approve', ...more }]
  return post(server, `/api/runs/${id}/answers`, { answers }, { ...as(who), ...headers })
}

/** The inbox, page by page. */
export async function inbox(server: Server, who: string, query = ''): Promise<Listed[]> {
  const found: Listed[] = []
  let cursor: string | null = null
  do {
    const at: string = cursor === null ? '' : `&cursor=${cursor}`
    const answer = await ask(server, `/api/approvals?${query}${at}`, { headers: as(who) })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const page = JSON.parse(answer.text) as { approvals: Listed[]; nextCursor: string | null }
    found.push(...page.approvals)
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

/** An entry of the inbox. */
export interface Listed {
  readonly request: InputRequest
  readonly run: Readonly<Record<string, unknown>> & { readonly id: string }
  readonly createdAt: string
  readonly expiresAt?: string
}

/** The record of the run that goes on, once it has ended. */
export async function wentOn(server: Server, { id, ann }: Pick<Asked, 'id' | 'ann'>): Promise<RunRecord> {
  let next = ''
  await eventually(async () => {
    next = (await get(server, id, as(ann))).continuedBy ?? ''
    expect(next).not.toBe('')
    expect((await get(server, next, as(ann))).status).not.toBe('running')
  })
  return get(server, next, as(ann))
}

export const clientOf = (server: Server, who: string) =>
  createClient({ baseUrl: `${server().url}/api`, headers: as(who) })
