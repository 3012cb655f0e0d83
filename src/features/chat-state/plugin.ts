/**
 * What bots of Vercel's Chat SDK keep, in the state of a handler: the entry `servable/chat-state`.
 *
 * Begin here, then `transactions.ts`. May import `core`, `stores` and `base`, and no other feature.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { ObjectAddress } from '../../core/hosted.ts'
import { stateFor } from '../../core/no-state.ts'
import type { Plugin } from '../../core/plugin.ts'
import { CHAT_STATE_TRANSACTIONS, type ChatLock, type ChatStateCalls } from './transactions.ts'

export type { ChatLock } from './transactions.ts'

const NAME = 'chat-state'

/** Most characters of a key or an id of a thread. */
const MAX_KEY = 1024

/** Most characters of a value or an entry, as JSON. */
const MAX_VALUE = 262_144

/** Most entries of a list or a queue, and most characters of all. The oldest are left out. */
const MAX_ITEMS = 1000
const MAX_LIST = 1_048_576

/** Durable Objects that share the keys. A change of this number loses what is stored. */
const PLACES = 16

/** A message that waits for its handler. */
export interface ChatQueueEntry {
  readonly message: unknown
  /** Milliseconds since 1970, by the clock of the bot. */
  readonly enqueuedAt: number
  /** From this time on the entry is not taken. */
  readonly expiresAt: number
}

/**
 * The state adapter of a bot, as `StateAdapter` of `chat` 4 defines it: `new Chat({ state })`. Keys have at most 1,024 characters, values
 * 262,144 as JSON, lists and queues 1,000 entries and 1,048,576 characters. Values are JSON: what you get is a copy. Every call rejects
 * with `invalid_input` for what does not fit, with `invalid_options` before `createHandler` has the plugin, and with `state_unavailable`.
 * Times to live are in milliseconds, above 0; without one a value stays until it is deleted.
 */
export interface ChatState {
  connect(): Promise<void>
  disconnect(): Promise<void>
  get<T = unknown>(key: string): Promise<T | null>
  set<T = unknown>(key: string, value: T, ttlMs?: number): Promise<void>
  /** Resolves with whether the key was free. Of several processes that try, one gets `true`. */
  setIfNotExists(key: string, value: unknown, ttlMs?: number): Promise<boolean>
  /** Deletes a value or a list. */
  delete(key: string): Promise<void>
  /** Adds to the end of a list. The newest `maxLength` entries stay (default and limit: 1,000). */
  appendToList(
    key: string,
    value: unknown,
    options?: { readonly maxLength?: number; readonly ttlMs?: number },
  ): Promise<void>
  getList<T = unknown>(key: string): Promise<T[]>
  subscribe(threadId: string): Promise<void>
  unsubscribe(threadId: string): Promise<void>
  isSubscribed(threadId: string): Promise<boolean>
  /** Resolves with null while somebody else has the lock. Of several processes that try, one gets it. */
  acquireLock(threadId: string, ttlMs: number): Promise<ChatLock | null>
  /** Resolves with whether the lock is still this one. It makes no lock anew. */
  extendLock(lock: ChatLock, ttlMs: number): Promise<boolean>
  /** Does nothing if somebody else has the lock by now. */
  releaseLock(lock: ChatLock): Promise<void>
  forceReleaseLock(threadId: string): Promise<void>
  /** Adds to the end of a queue, of which the newest `maxSize` entries stay. Resolves with their number. */
  enqueue(threadId: string, entry: ChatQueueEntry, maxSize: number): Promise<number>
  /** Takes the oldest entry that has not expired. The message is JSON, as `toJSON` of the message made it. */
  dequeue<T extends ChatQueueEntry = ChatQueueEntry>(threadId: string): Promise<T | null>
  queueDepth(threadId: string): Promise<number>
}

/**
 * Keeps what a bot of Chat SDK (`chat` 4) needs: subscriptions, locks, queues and values, in the handler's state. All processes on
 * one state share it. `createHandler` throws `invalid_options` without a state. If several handlers have it, the last one counts.
 *
 * @example
 * const state = chatState()
 * const handler = createHandler({ agents, state: sqliteState({ path: 'bot.db' }), plugins: [state] })
 * const bot = new Chat({ userName: 'bot', adapters: { slack: createSlackAdapter() }, state })
 */
export function chatState(): Plugin & ChatState {
  let mounted: ChatStateCalls | undefined
  const plugin = asPlugin({
    name: NAME,
    transactions: { [NAME]: CHAT_STATE_TRANSACTIONS },
    mount(core) {
      stateFor(NAME, core.settings.state)
      return {
        begin() {
          mounted = core.callTransactions(NAME, CHAT_STATE_TRANSACTIONS)
        },
      }
    },
  })
  return Object.assign(
    plugin,
    adapterOver(() => mounted ?? unused()),
  )
}

function unused(): never {
  throw new ServableError(
    'invalid_options',
    '`chatState` has no state yet: give it to `createHandler({ plugins: [state] })` before the bot starts',
  )
}

/** The adapter over the calls of the handler. */
function adapterOver(calls: () => ChatStateCalls): ChatState {
  return {
    async connect() {
      calls()
    },
    // The store is the handler's, which closes it.
    async disconnect() {},
    get: async key => parsed(await calls().get(at(key), key)),
    set: async (key, value, ttlMs) => calls().set(at(key), key, toJson(value), lasting(ttlMs)),
    setIfNotExists: async (key, value, ttlMs) =>
      calls().setIfNew(at(key), key, toJson(value), lasting(ttlMs)),
    delete: async key => calls().remove(at(key), key, ['value', 'list']),
    async appendToList(key, value, { maxLength, ttlMs } = {}) {
      await calls().append(at(key), key, toJson(value), most('maxLength', maxLength), lasting(ttlMs))
    },
    getList: async <T>(key: string) => (await calls().list(at(key), key)).map(text => JSON.parse(text) as T),
    subscribe: async threadId => calls().subscribe(at(threadId), threadId),
    unsubscribe: async threadId => calls().remove(at(threadId), threadId, ['subscription']),
    isSubscribed: async threadId => calls().has(at(threadId), 'subscription', threadId),
    async acquireLock(threadId, ttlMs) {
      const token = crypto.randomUUID()
      const expiresAt = await calls().lock(at(threadId), threadId, token, time(ttlMs))
      return expiresAt === undefined ? null : { threadId, token, expiresAt }
    },
    extendLock: async ({ threadId, token }, ttlMs) =>
      calls().extend(at(threadId), threadId, token, time(ttlMs)),
    releaseLock: async ({ threadId, token }) => calls().unlock(at(threadId), threadId, token),
    forceReleaseLock: async threadId => calls().remove(at(threadId), threadId, ['lock']),
    async enqueue(threadId, entry, maxSize) {
      const item = { text: toJson(entry), expiresAt: time(entry.expiresAt, '`expiresAt`') }
      return calls().enqueue(at(threadId), threadId, item, Date.now(), most('maxSize', maxSize))
    },
    dequeue: async threadId => parsed(await calls().dequeue(at(threadId), threadId, Date.now())),
    queueDepth: async threadId => calls().depth(at(threadId), threadId, Date.now()),
  }
}

/** Where the data of a key is. Throws `invalid_input` for a key that is none. */
function at(key: string): ObjectAddress {
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY)
    throw misfit(`A key must be text of 1 to ${MAX_KEY} characters`)
  let hash = 0
  for (let index = 0; index < key.length; index++) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0
  return `${NAME}/${hash % PLACES}`
}

function misfit(text: string): ServableError {
  return new ServableError('invalid_input', `\`chatState\`: ${text}`)
}

/** The JSON text of a value. */
function toJson(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {}
  if (text === undefined) throw misfit('A value must be JSON')
  if (text.length <= MAX_VALUE) return text
  throw misfit(`A value must have at most ${MAX_VALUE} characters as JSON: this one has ${text.length}`)
}

/** The value of a JSON text, null for none. */
function parsed<T>(text: string | undefined): T | null {
  return text === undefined ? null : (JSON.parse(text) as T)
}

function time(ms: number, name = 'A time to live'): number {
  if (Number.isFinite(ms) && ms > 0) return ms
  throw misfit(`${name} must be milliseconds above 0`)
}

const lasting = (ttlMs: number | undefined) => (ttlMs === undefined ? undefined : time(ttlMs))

/** The bounds of a list whose caller wants at most so many entries. */
function most(name: string, items: number = MAX_ITEMS) {
  if (!(items >= 1)) throw misfit(`\`${name}\` must be a number, 1 or more`)
  return { items: Math.min(Math.trunc(items), MAX_ITEMS), length: MAX_LIST }
}
