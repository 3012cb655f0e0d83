import type { SessionBranch } from '../features/sessions/branches.ts'
import type { TurnPage, TurnQuery } from '../features/sessions/turns.ts'
import type { SessionPage, SessionQuery, SessionSummary } from '../runs/sessions/summary.ts'
import type { ClientCaller } from './call.ts'
import type { RunTarget } from './client-run.ts'
import type { CallOptions } from './options.ts'
import { queryOf, segment } from './sent.ts'

/** The servable of a session: an agent by name, or a target of any kind. */
export type SessionOf = string | RunTarget

/**
 * The caller's sessions, if the service shows them. Calls for deleted ones, and those of others, reject with `session_not_found`.
 */
export interface SessionsClient {
  /**
   * A page of the caller's sessions, newest first. If it has a `nextCursor`, there may be more. Rejects with `not_found` without
   * an identity.
   */
  list(query?: Partial<SessionQuery>, options?: CallOptions): Promise<SessionPage>
  /**
   * Begins a session. Its id is the `sessionId` of runs. Without an identity anyone who knows this id may read the session. The
   * client does not send the request again after a lost answer.
   *
   * @example
   * const { id } = await client.sessions.create({ name: 'assistant' })
   * await client.agent('assistant').run('Hello', { sessionId: id })
   */
  create(
    session: { readonly kind?: RunTarget['kind']; readonly name: string; readonly title?: string },
    options?: CallOptions,
  ): Promise<SessionSummary>
  /** One session. */
  get(of: SessionOf, id: string, options?: CallOptions): Promise<SessionSummary>
  /** A page of the turns of a branch of a session, newest first. A `running` turn can be followed with `runs.stream`, if its run is stored. */
  messages(of: SessionOf, id: string, query?: Partial<TurnQuery>, options?: CallOptions): Promise<TurnPage>
  /** Sets the title of a session. */
  rename(of: SessionOf, id: string, title: string, options?: CallOptions): Promise<SessionSummary>
  /** The branches of a session, that which was used last first. */
  branches(of: SessionOf, id: string, options?: CallOptions): Promise<readonly SessionBranch[]>
  /**
   * Makes the branch with the turn of this run the one that counts: the next message comes after its newest turn. Rejects with
   * `session_busy` while a run is at work, and with `session_changed` if the last turn is not that of the run `ifHead`.
   */
  setHead(
    of: SessionOf,
    id: string,
    runId: string,
    options?: CallOptions & { readonly ifHead?: string },
  ): Promise<SessionSummary>
  /** Deletes the turn of a run and all after it, with their stored runs. Rejects with `session_busy` if one is at work. */
  deleteBranch(of: SessionOf, id: string, runId: string, options?: CallOptions): Promise<void>
  /**
   * Copies the turns of a session, up to the one of `runId`, into a new session. Default: all that have ended. The client does
   * not send the request again after a lost answer.
   */
  fork(
    of: SessionOf,
    id: string,
    fork?: { readonly runId?: string; readonly title?: string },
    options?: CallOptions,
  ): Promise<SessionSummary>
  /** Deletes a session with all of its data. Rejects with `session_busy` if a run is at work, unless `running` is `cancel`. */
  delete(of: SessionOf, id: string, options?: CallOptions & { readonly running?: 'cancel' }): Promise<void>
}

/** Makes the part of a client for sessions. */
export function createSessions({ ask, within }: ClientCaller): SessionsClient {
  const path = (of: SessionOf, id: string) => {
    const { kind, name } = typeof of === 'string' ? { kind: 'agent', name: of } : of
    return `/${kind}s/${segment(name)}/sessions/${segment(id)}`
  }
  return {
    list: async (query, options) => ask(`/sessions${queryOf(query)}`, options),
    create: async (body, options) => ask('/sessions', options, { method: 'POST', body }, 1),
    get: async (of, id, options) => ask(path(of, id), options),
    messages: async (of, id, query, options) => ask(`${path(of, id)}/messages${queryOf(query)}`, options),
    rename: async (of, id, title, options) =>
      ask(path(of, id), options, { method: 'PATCH', body: { title } }),
    async branches(of, id, options) {
      const { branches }: { branches: readonly SessionBranch[] } = await ask(
        `${path(of, id)}/branches`,
        options,
      )
      return branches
    },
    setHead: async (of, id, head, options) =>
      ask(path(of, id), options, { method: 'PATCH', body: { head, ifHead: options?.ifHead } }),
    async deleteBranch(of, id, runId, options) {
      const at = `${path(of, id)}/branches/${segment(runId)}`
      await within(options, call => call.send(at, { method: 'DELETE' }))
    },
    fork: async (of, id, body = {}, options) =>
      ask(`${path(of, id)}/fork`, options, { method: 'POST', body }, 1),
    async delete(of, id, options) {
      const running = queryOf({ running: options?.running })
      await within(options, call => call.send(path(of, id) + running, { method: 'DELETE' }))
    },
  }
}
