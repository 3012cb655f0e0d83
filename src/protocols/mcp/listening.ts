/**
 * Streams of notifications: which lists and resources have changed. They are looked at every two seconds, so that a change by any
 * process is told, and no session is needed.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import type { EndpointResult } from '../../http/context.ts'
import { sseReply } from '../../web/reply.ts'
import { counted, pulled, sseData } from '../../web/sse.ts'
import { own } from './era.ts'
import { pause, within } from './progress.ts'
import type { CallContext, McpRequest, Watched } from './request.ts'
import { INVALID_PARAMS, RpcError } from './rpc.ts'

/** Milliseconds between two looks. */
const LOOK_MS = 2000

/** Most streams of this process, and of one client. */
const MAX_STREAMS = 1000
const MAX_OF_CLIENT = 20

/** Most resources of one stream. */
export const MAX_URIS = 100

/** The notification of each list. */
const NOTIFICATIONS: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}

/** What a stream tells. */
interface Told {
  readonly lists: readonly string[]
  /** The resources, which may become others. */
  uris(): Iterable<string>
}

/** Who has the places of a request: its owner, or its address. */
export function clientOf({ owner, peer = '' }: McpRequest['state']): string {
  return owner ?? peer
}

/** The streams of this process. */
export class Listeners {
  readonly #watched: readonly Watched[]
  readonly #parts: CallContext
  readonly #clients = new Map<string, number>()
  #count = 0

  constructor(watched: readonly Watched[], parts: CallContext) {
    this.#watched = watched
    this.#parts = parts
  }

  /** `subscriptions/listen` (2026-07-28): tells first what was granted, then what changes. Throws `too_many_followers`. */
  async listen(rpc: McpRequest): Promise<EndpointResult> {
    const asked = Object(rpc.params.notifications) as Readonly<Record<string, unknown>>
    const { resourceSubscriptions: uris = [] } = asked
    if (!isObject(rpc.params.notifications) || !isShortList(uris))
      throw new RpcError(
        INVALID_PARAMS,
        `\`notifications\` must be an object, with at most ${MAX_URIS} \`resourceSubscriptions\``,
        200,
      )
    const lists = this.#names.filter(name => asked[name] === true)
    const versions = await Promise.all(uris.map(uri => this.version(rpc, uri)))
    const known = [...new Set(uris.filter((_, at) => versions[at] !== undefined))]
    const granted = {
      ...Object.fromEntries(lists.map(name => [name, true])),
      ...(known.length > 0 && { resourceSubscriptions: known }),
    }
    const first = message('notifications/subscriptions/acknowledged', rpc, { notifications: granted })
    return this.stream(rpc, { lists, uris: () => known }, [first])
  }

  /** The names of all lists that are watched. */
  get #names(): readonly string[] {
    return this.#watched.flatMap(({ lists }) => Object.keys(lists))
  }

  /** All lists, and the resources of a session, for clients before 2026-07-28. */
  follow(rpc: McpRequest, uris: () => Iterable<string>): EndpointResult {
    return this.stream(rpc, { lists: this.#names, uris }, [])
  }

  /** Makes a stream, which begins with some messages. */
  stream(rpc: McpRequest, told: Told, messages: object[]): EndpointResult {
    const { state } = rpc
    const release = this.#take(clientOf(state))
    const looks = this.#looksOf(rpc, told, messages)
    let isOver = false
    let wake = () => {}
    let isFirst = true
    const next = async () => {
      while (!isOver) {
        const ready = messages.shift()
        if (ready !== undefined) return sseData(ready)
        if (!isFirst) await pause(LOOK_MS, resolve => (wake = resolve))
        isFirst = false
        if (!isOver) await within(looks(), LOOK_MS)
      }
      return undefined
    }
    const cancel = () => {
      if (isOver) return
      isOver = true
      rpc.request.signal.removeEventListener('abort', cancel)
      release()
      wake()
    }
    rpc.request.signal.addEventListener('abort', cancel)
    if (rpc.request.signal.aborted) cancel()
    return sseReply(counted(pulled({ cancel, next }), this.#parts.core.openStream))
  }

  /** Another value when a resource has changed. Undefined if there is none, or it cannot be read now. */
  async version(rpc: McpRequest, uri: string): Promise<string | undefined> {
    for (const { version } of this.#watched) {
      const value: unknown = await Promise.resolve(version?.(rpc, uri)).catch(() => undefined)
      if (value !== undefined) return digestOf(value).catch(() => undefined)
    }
    return undefined
  }

  /** Makes what looks at all of it and adds what has changed. One look that takes long holds up no other. */
  #looksOf(rpc: McpRequest, { lists, uris }: Told, messages: object[]): () => Promise<unknown> {
    const seen = new Map<string, string>()
    const looking = new Set<string>()
    const look = async (key: string, now: () => Promise<string | undefined>, changed: () => object) => {
      if (looking.has(key)) return
      looking.add(key)
      const value = await now()
      looking.delete(key)
      const before = seen.get(key)
      if (value === undefined || value === before) return
      seen.set(key, value)
      if (before !== undefined) messages.push(changed())
    }
    const ofList = (name: string) =>
      look(
        `list ${name}`,
        () => this.#list(rpc, name),
        () => message(NOTIFICATIONS[name]!, rpc, {}),
      )
    const ofUri = (uri: string) =>
      look(
        `uri ${uri}`,
        () => this.version(rpc, uri),
        () => message('notifications/resources/updated', rpc, { uri }),
      )
    return () => {
      const asked = new Set(uris())
      // A session may subscribe to others all the time.
      for (const key of seen.keys()) if (key.startsWith('uri ') && !asked.has(key.slice(4))) seen.delete(key)
      return Promise.all([...lists.map(ofList), ...Array.from(asked, ofUri)])
    }
  }

  async #list(rpc: McpRequest, name: string): Promise<string | undefined> {
    const list = this.#watched.find(({ lists }) => lists[name] !== undefined)?.lists[name]
    try {
      return list && (await digestOf(await list(rpc, this.#parts)))
    } catch {
      return undefined
    }
  }

  /** Takes a place. Returns what frees it. */
  #take(client: string): () => void {
    const before = this.#clients.get(client) ?? 0
    if (this.#count >= MAX_STREAMS || before >= MAX_OF_CLIENT)
      throw new ServableError('too_many_followers', 'Too many streams of notifications are open: close one')
    this.#count++
    this.#clients.set(client, before + 1)
    return () => {
      this.#count--
      const left = (this.#clients.get(client) ?? 1) - 1
      if (left === 0) this.#clients.delete(client)
      else this.#clients.set(client, left)
    }
  }
}

function isShortList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= MAX_URIS && value.every(each => typeof each === 'string')
}

/** A notification. In 2026-07-28 it names the request of its stream. */
function message(method: string, { id, capabilities }: McpRequest, params: object): object {
  const meta = capabilities && { _meta: { [own('subscriptionId')]: id } }
  return { jsonrpc: '2.0', method, params: { ...params, ...meta } }
}

async function digestOf(value: unknown): Promise<string> {
  const { bytes = value } = Object(value)
  const source =
    bytes instanceof Uint8Array ? bytes : new TextEncoder().encode(JSON.stringify(value, plain) ?? '')
  const digest = await crypto.subtle.digest('SHA-256', source as BufferSource)
  return new Uint8Array(digest).join()
}

/** JSON has no whole numbers of any size, which databases give as versions. */
function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}
