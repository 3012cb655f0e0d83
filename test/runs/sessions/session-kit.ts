/** One session in a store, and a handler with sessions, for their tests. */
import type { BegunTurn } from '../../../src/agents/memory.ts'
import {
  Agent,
  type AgentConfig,
  createHandler,
  type HandlerOptions,
  memoryState,
  type RunInput,
  type Turn,
} from '../../../src/index.ts'
import { appendSession, readSession } from '../../../src/runs/sessions/session-memory.ts'
import type { SessionSettings } from '../../../src/runs/sessions/session-record.ts'
import { enterSession, keepSession, leaveSession, turnsOf } from '../../../src/runs/sessions/session-turns.ts'

export const settings: SessionSettings = {
  maxSessions: 1000,
  maxSessionMessages: 200,
  maxSessionLength: 65_536,
  sessionRetentionMs: 600_000,
  maxTurns: 1000,
  maxLength: 1_000_000,
  concurrency: 'queue',
  compacts: false,
}
export const key = { owner: null, place: ['agent:a'], sessionId: 's' }
export const turn = (runId: string, input: RunInput = runId): Turn => ({
  ...{ runId, kind: 'agent', name: 'a', input, status: 'running', at: 1 },
})

/** One session in a store of its own. */
export function session(given: Partial<SessionSettings> = {}) {
  const { store } = memoryState()
  const all = { ...settings, ...given }
  return {
    store,
    enter: (runId: string, goesOn = false, more: Partial<BegunTurn> = {}) =>
      store.write(tx => enterSession(tx, key, { ...turn(runId), goesOn, ...more }, all)),
    beat: (runId: string) => store.write(tx => keepSession(tx, key, runId, all)),
    leave: (
      runId: string,
      end: Partial<Turn> = { status: 'completed', text: `of ${runId}` },
      messages?: unknown[],
    ) =>
      store.write(tx =>
        leaveSession(tx, key, { ...turn(runId), ...end }, messages && { messages, provider: 'one' }, all),
      ),
    append: (messages: unknown[], member?: string[]) =>
      store.write(tx => appendSession(tx, { ...key, ...(member && { member }) }, { messages }, all)),
    read: (provider?: string, member?: string[]) =>
      store.read(tx => readSession(tx, { ...key, ...(member && { member }) }, { provider }, all)),
    turns: () => store.read(tx => turnsOf(tx, key)) as readonly Turn[],
    count: (collection: string) => store.read(tx => tx.count(collection)),
  }
}

/** A handler over a state, and what its sessions hold. */
export function serve(run: AgentConfig['run'], options: HandlerOptions = {}) {
  const agent = new Agent({ name: 'a', run, register: false })
  const state = memoryState()
  const logged: string[] = []
  const handler = createHandler({
    ...{ registry: false, agents: { a: agent }, state },
    logger: ({ event }) => void logged.push(event),
    ...options,
  })
  const post = (path: string, body: object, init: RequestInit = {}) =>
    handler(
      new Request(`http://127.0.0.1/api/${path}`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ sessionId: 's', ...body }),
        ...init,
      }),
    )
  const say = async (input: RunInput, body: object = {}) =>
    (await post('agents/a/run', { input, ...body })).json()
  const turns = () => state.store.read(tx => turnsOf(tx, key)) as readonly Turn[]
  return { handler, state, post, say, turns, logged }
}
