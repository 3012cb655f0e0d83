/** The list of threads of assistant-ui over the sessions of the service. */
import type { RemoteThreadListAdapter } from '@assistant-ui/react'
import { createAssistantStream } from 'assistant-stream'
import { createClient, type SessionSummary, type TurnPage } from 'servable/client'

export const AGENT = 'parrot'

export const client = createClient({ baseUrl: `${location.origin}/api` })

const threadOf = ({ id, title, updatedAt }: SessionSummary) => ({
  status: 'regular' as const,
  remoteId: id,
  title: title ?? undefined,
  lastMessageAt: new Date(updatedAt),
})

/** What a thread waits for: approvals of calls. The newest of its turns is the first. */
export async function requestsOf([newest]: TurnPage['turns']) {
  return newest?.finishReason === 'input_required'
    ? (await client.runs.get(newest.runId)).requests
    : undefined
}

/** The run of the answer that is at work in a thread. */
async function runAtWork(id: string): Promise<string | undefined> {
  const { turns } = await client.sessions.messages(AGENT, id, { limit: 1 })
  return turns[0]?.status === 'running' ? turns[0].runId : undefined
}

export const hasAnswerAtWork = async (id: string): Promise<boolean> => (await runAtWork(id)) !== undefined

/** Stops the answer that is at work in a thread. A page that only leaves does not stop it. */
export async function stopAnswer(id: string): Promise<void> {
  const runId = await runAtWork(id)
  if (runId !== undefined) await client.runs.cancel(runId)
}

export const threads: RemoteThreadListAdapter = {
  async list({ after } = {}) {
    const { sessions, nextCursor } = await client.sessions.list({
      name: AGENT,
      ...(after !== undefined && { cursor: after }),
    })
    return { threads: sessions.map(threadOf), nextCursor: nextCursor ?? undefined }
  },
  fetch: async id => threadOf(await client.sessions.get(AGENT, id)),
  async initialize() {
    const { id } = await client.sessions.create({ name: AGENT })
    return { remoteId: id }
  },
  async rename(id, title) {
    await client.sessions.rename(AGENT, id, title)
  },
  /** The service has made the title of the first message. */
  async generateTitle(id) {
    const { title } = await client.sessions.get(AGENT, id)
    return createAssistantStream(controller => controller.appendText(title ?? ''))
  },
  delete: id => client.sessions.delete(AGENT, id, { running: 'cancel' }),
  async archive() {
    throw new Error('The service has no archive: delete the thread')
  },
}
