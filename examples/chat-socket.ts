/**
 * A plugin of your own: a chat over a WebSocket, at `{prefix}/chat`. Each message is text: one JSON object.
 *
 *     createHandler({ agents, state: memoryState(), plugins: [sessions(), chatSocket()] })
 *
 * A client sends these. Each may have a `ref`, a text that an error about the message repeats:
 *
 * | `type` | members | the answer |
 * |---|---|---|
 * | `send` | `agent`, `session`, `input` (text or parts), `background` | `run`, and its `event`s |
 * | `answer` | `run`, `answers` (to its requests) | `run` and `event`s of the run that goes on, or `open` |
 * | `stop` | `run` | `stopped` |
 * | `attach` | `agent`, `session`, `run`, `after` | `run` and `event`s of the session's newest message, or `none` |
 * | `runs` | `session`, `cursor` | `runs`: a page of past runs. Without a `session` it needs an identity |
 * | `sessions` | `cursor` | `sessions`: a page. It needs the plugin `sessions()` and an identity |
 *
 * The service sends these:
 *
 * - `{ type: 'run', run, stored }`: the events of a run follow. A run that is not stored ends with the socket.
 * - `{ type: 'event', run, at, event }`: an event of the run. `at` is its position, which rises. The last one is `finish` or `error`. A run
 *   that waits for a person ends with `finish` and `requests`: send `answer`.
 * - `{ type: 'open', run, requests }`: these requests are still open.
 * - `{ type: 'error', ref, code, message, issues }`: a message failed. `issues` names its wrong fields.
 *
 * A client that reconnects sends `attach` with the last `run` and `at` that it has. It gets the events after these, and then those of the
 * runs that go on with it. If the session has a newer message by then, it gets all events of that one.
 */

// In your own project import from `servable/core` and `servable/encoders`. This example imports the sources, so that it needs no build.
import {
  type Answer,
  type Caller,
  callerOf,
  type Plugin,
  type PluginConnection,
  type PluginCore,
  type RunInput,
  ServableError,
  type SocketHandlers,
  type StartedRun,
  socketRoute,
} from '../src/core-entry.ts'
import {
  AnswersSchema,
  idText,
  isObject,
  isServableError,
  misfit,
  parsed,
  RunInputSchema,
  reportError,
  validate,
} from '../src/protocols/encoders/index.ts'

/** A message of a client, checked. */
export type ChatMessage = { readonly ref?: string } & (
  | { readonly type: 'send'; agent: string; session: string; input: RunInput; background?: boolean }
  | { readonly type: 'answer'; run: string; answers: readonly Answer[] }
  | { readonly type: 'stop'; run: string }
  | { readonly type: 'attach'; agent: string; session: string; run?: string; after?: number }
  | { readonly type: 'runs'; session?: string; cursor?: string }
  | { readonly type: 'sessions'; cursor?: string }
)

/** Most runs that one socket reads at a time. */
const MAX_READ = 10

const optional =
  (check: Check): Check =>
  (value, name) =>
    value === undefined ? undefined : check(value, name)
const id = fits(idText)
const ref = optional(id)

/** The members of each message, and what checks them. */
const MEMBERS: Readonly<Record<ChatMessage['type'], Readonly<Record<string, Check>>>> = {
  send: { ref, agent: id, session: id, input: fits(RunInputSchema), background: optional(yesOrNo) },
  answer: { ref, run: id, answers: fits(AnswersSchema) },
  stop: { ref, run: id },
  attach: { ref, agent: id, session: id, run: optional(id), after: optional(position) },
  runs: { ref, session: optional(id), cursor: optional(id) },
  sessions: { ref, cursor: optional(id) },
}

/** Checks a member of a message. Throws `invalid_body`, which names it. */
type Check = (value: unknown, name: string) => unknown

/** Makes a check of a schema. */
function fits(schema: Parameters<typeof validate>[0]): Check {
  return (value, name) => {
    try {
      return validate(schema, value, 'invalid_body', name)
    } catch (error) {
      const [issue] = isServableError(error) ? (error.issues ?? []) : []
      throw issue ? misfit([name, issue.path].filter(Boolean).join('.'), issue.message) : error
    }
  }
}

function yesOrNo(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  throw misfit(name, 'must be true or false')
}

function position(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw misfit(name, 'must be a whole number from 0')
}

/** Reads a message. Unknown members are left out. Throws `invalid_body`, which names a wrong member. */
export function parseMessage(data: string | Uint8Array): ChatMessage {
  const message = typeof data === 'string' ? parsed(data) : undefined
  if (!isObject(message)) throw misfit('message', 'must be text with a JSON object')
  const { type } = message
  const members =
    typeof type === 'string' && Object.hasOwn(MEMBERS, type)
      ? MEMBERS[type as ChatMessage['type']]
      : undefined
  if (members === undefined) throw misfit('type', `must be one of ${Object.keys(MEMBERS).join(', ')}`)
  const checked = Object.entries(members).map(([name, check]) => [name, check(message[name], name)])
  return Object.fromEntries([['type', type], ...checked.filter(([, value]) => value !== undefined)])
}

/** Serves the chat. */
export function chatSocket(): Plugin {
  return {
    name: 'chat-socket',
    mount: core => ({
      routes: [
        socketRoute(core, {
          path: `${core.prefix}/chat`,
          open: (request, context) => new Chat(core, callerOf(core, request, context)),
        }),
      ],
    }),
  }
}

/** The chat of one socket. */
class Chat implements SocketHandlers {
  readonly #core: PluginCore
  readonly #caller: Caller
  /** What reads a run, by the run's id. */
  readonly #reading = new Map<string, ReturnType<StartedRun['entries']>>()
  /** The ids of those that are not stored. */
  readonly #plain = new Set<string>()
  #isClosed = false

  constructor(core: PluginCore, caller: Caller) {
    this.#core = core
    this.#caller = caller
  }

  async message(data: string | Uint8Array, socket: PluginConnection): Promise<void> {
    const tell = (message: object) => socket.send(JSON.stringify(message))
    try {
      await this.#answer(parseMessage(data), tell)
    } catch (error) {
      tell(this.#problemOf(error, data))
    }
  }

  close(): void {
    this.#isClosed = true
    for (const id of this.#reading.keys()) this.#leave(id)
  }

  async #answer(message: ChatMessage, tell: (message: object) => void): Promise<void> {
    const { runs, sessions, whyUnstored } = this.#caller
    const resolve = (agent: string) => this.#core.catalog.resolve('agent', agent)
    switch (message.type) {
      case 'send': {
        const { agent, session: sessionId, input, background = whyUnstored === undefined } = message
        this.#checkMayRead()
        const asked = { target: resolve(agent), sessionId, input, isBackground: background }
        return void this.#read([await this.#caller.start(asked)], tell)
      }
      case 'answer': {
        this.#checkMayRead()
        const { run: id, answers } = message
        const { record, started } = await runs.answer({ id, answers })
        if (started) return void this.#read([started], tell)
        return tell({ type: 'open', run: record.id, requests: record.requests ?? [] })
      }
      case 'stop': {
        // A run that is not stored has no record. It ends when its reader leaves.
        if (this.#plain.has(message.run)) this.#leave(message.run)
        else await runs.cancel(message.run)
        return tell({ type: 'stopped', run: message.run })
      }
      case 'attach': {
        const { agent, session, run = '', after = 0 } = message
        const { chain = [] } = (await runs.newest({ target: resolve(agent), id: session })) ?? {}
        if (chain.length === 0) return tell({ type: 'none', session })
        const at = chain.indexOf(run)
        const ids = chain.slice(Math.max(at, 0))
        for (const id of ids) this.#leave(id)
        this.#checkMayRead()
        const found = await Promise.all(ids.map(id => runs.open(id)))
        return void this.#read(found, tell, at < 0 ? 0 : after)
      }
      case 'runs': {
        const { session: sessionId, cursor } = message
        return tell({ type: 'runs', ...(await runs.list({ sessionId, cursor })) })
      }
      case 'sessions':
        return tell({ type: 'sessions', ...(await sessions.list({ cursor: message.cursor })) })
    }
  }

  #checkMayRead(): void {
    if (this.#reading.size < MAX_READ) return
    throw new ServableError('too_many_followers', `A socket reads at most ${MAX_READ} runs at a time`)
  }

  #leave(id: string): void {
    const events = this.#reading.get(id)
    this.#reading.delete(id)
    this.#plain.delete(id)
    events?.return?.().catch(() => {})
  }

  /** Tells the events of runs that go on with each other, while other messages are handled. `after`: how many of the first it has. */
  async #read(runs: readonly StartedRun[], tell: (message: object) => void, after = 0): Promise<void> {
    for (const [index, run] of runs.entries()) {
      if (this.#isClosed) return
      try {
        if (!(await this.#readOne(run, tell, index === 0 ? after : 0))) return
      } catch (error) {
        return tell(this.#problemOf(error))
      }
    }
  }

  /** Tells the events of a run. Returns whether it has told the last one. */
  async #readOne(run: StartedRun, tell: (message: object) => void, after: number): Promise<boolean> {
    const { id, record } = run
    const entries = run.entries(after)
    this.#reading.set(id, entries)
    if (record === undefined) this.#plain.add(id)
    const isMine = () => this.#reading.get(id) === entries
    tell({ type: 'run', run: id, stored: record !== undefined })
    try {
      for await (const { id: at, event } of entries) {
        if (!isMine()) return false
        tell({ type: 'event', run: id, at, event })
      }
      return isMine()
    } finally {
      if (isMine()) this.#leave(id)
    }
  }

  /** An error as a message. The text of those that the client cannot mend goes to the log alone. */
  #problemOf(error: unknown, data?: string | Uint8Array): object {
    const message = typeof data === 'string' ? parsed(data) : undefined
    const about =
      isObject(message) && typeof message.ref === 'string' ? { ref: message.ref.slice(0, 500) } : {}
    const { code, message: text, issues } = reportError(error, this.#core.production, 'internal_error')
    if (!isServableError(error))
      this.#core.log({ level: 'error', event: 'chat.failed', message: String(error) })
    return { type: 'error', ...about, code, message: text, ...(issues.length > 0 && { issues }) }
  }
}
