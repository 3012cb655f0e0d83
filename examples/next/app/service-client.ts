import type { Turn } from 'servable'
import { type KeptMessage, messagesOf } from 'servable/ai-sdk-ui/page'
import { createClient, ServableClientError } from 'servable/client'
import type { SessionPage } from 'servable/sessions'
// The type alone: none of the service reaches the browser.
import type { handler } from './service.ts'

/** What is chatted with. */
export type Kind = 'agent' | 'team' | 'workflow'

/** A chat: with whom, and the id of its session. */
export interface Place {
  readonly kind: Kind
  readonly name: string
  readonly id: string
}

/** Whom the service offers. */
export interface Offer {
  readonly kind: Kind
  readonly name: string
  readonly description: string | null
}

/** In the browser alone: a page is rendered on the server too, where `/api` is no whole address. So many tries outlast a restart. */
const connect = () => createClient<typeof handler>({ baseUrl: '/api', maxTries: 10 })

/** What a person is told of a failure. */
export const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Where `useChat` asks. */
export const chatOf = ({ kind, name }: Place) => `/api/${kind}s/${encodeURIComponent(name)}/chat`

export async function offers(): Promise<readonly Offer[]> {
  const client = connect()
  const [agents, teams, workflows] = await Promise.all([client.agents(), client.teams(), client.workflows()])
  return [
    ...agents.map(({ name, description }) => ({ kind: 'agent' as const, name, description })),
    ...teams.map(({ name, description }) => ({ kind: 'team' as const, name, description })),
    ...workflows.map(({ name, description }) => ({ kind: 'workflow' as const, name, description })),
  ]
}

export async function sessions(cursor?: string): Promise<SessionPage> {
  return connect().sessions.list({ limit: 50, ...(cursor !== undefined && { cursor }) })
}

export async function rename(place: Place, title: string): Promise<void> {
  await connect().sessions.rename(place, place.id, title)
}

export async function remove(place: Place): Promise<void> {
  await connect().sessions.delete(place, place.id, { running: 'cancel' })
}

/** A chat as the service has kept it: nothing where it is gone. */
export async function kept(place: Place): Promise<KeptMessage[]> {
  try {
    const turns = await turnsOf(place)
    const [newest] = turns
    const isWaiting = newest?.finishReason === 'input_required'
    const { requests } = isWaiting ? await connect().runs.get(newest.runId) : {}
    return messagesOf(turns, requests)
  } catch (error) {
    if (error instanceof ServableClientError && error.code === 'session_not_found') return []
    throw error
  }
}

/** All turns of a chat, newest first. */
async function turnsOf(place: Place): Promise<readonly Turn[]> {
  const client = connect()
  const turns: Turn[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 100, ...(cursor !== undefined && { cursor }) }
    const page = await client.sessions.messages(place, place.id, query)
    turns.push(...page.turns)
    cursor = page.nextCursor
  }
  return turns
}
