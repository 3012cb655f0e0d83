/**
 * The options of a remote agent.
 *
 * @module
 */

import * as v from 'valibot'
import { MAX_NAME_LENGTH, type RegisterOption } from '../../agents/registry.ts'
import { count, duration, flag, func, origins, registry, strings } from '../../base/schemas.ts'
import { validate } from '../../base/validation.ts'

/** A request to a remote service, for which headers are needed. */
export interface RemoteRequest {
  readonly url: string
  readonly method: string
  /** The run that sends the request. */
  readonly runId: string
  readonly sessionId: string | undefined
  /** The user of the run. A claim of the client, unless `identity` is the same. */
  readonly userId: string | undefined
  /** The identity that middleware set. */
  readonly identity: string | undefined
  /** Fires when the request is no longer needed. */
  readonly signal: AbortSignal
}

/** A card as it was read: untrusted JSON. */
export type RemoteCard = Readonly<Record<string, unknown>>

/**
 * Checks a card before it is used. Returns true to use the card as it is, or the part of the card to use. Anything else refuses
 * the card.
 */
export type VerifyCard = (card: RemoteCard) => boolean | RemoteCard | Promise<boolean | RemoteCard>

/** How to reach a remote agent. */
export interface RemoteAgentOptions {
  /**
   * The address of the service's card if it ends with `.json`. Otherwise the base of the service, which has its card at
   * `/.well-known/agent-card.json` or `/.well-known/agent.json` below it.
   */
  readonly url: string
  /** The name under which clients of this service reach the agent: 1 to 200 characters. Default: the host of `url`. */
  readonly name?: string
  readonly description?: string
  /**
   * Returns the headers of a request, such as `authorization`. Is called before each request. The headers go to the origin of
   * `url` and to those of `origins`. Their values are cut out of errors, and the secrets among them also out of answers. Default:
   * none.
   */
  readonly headers?: (
    request: RemoteRequest,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /** Further origins that the card may name: `https://a2a.example.com`. Default: none. */
  readonly origins?: readonly string[]
  /**
   * Addresses that are allowed although they are not public: hosts (`localhost`), hosts with a port (`127.0.0.1:3000`) and ranges
   * (`10.0.0.0/8`). Default: none.
   */
  readonly allow?: readonly string[]
  /** The tenant of each request, in A2A 1.0. Default: the one that the card names. */
  readonly tenant?: string
  /** The agent of the service that answers: `agentName` in the metadata of each message. Default: the service decides. */
  readonly agentName?: string
  /** The skill to use: `skillId` in the metadata of each message. Default: the service decides. */
  readonly skillId?: string
  /** URIs of extensions, for the header `A2A-Extensions`. Default: none. */
  readonly extensions?: readonly string[]
  /** Checks each new card, for example its signatures. Default: none is checked. */
  readonly verify?: VerifyCard
  /** Most bytes of one answer. An event of a stream may always have at most 4 MiB. Default: 4,194,304. */
  readonly maxBytes?: number
  /** Most bytes of all streams of a run. Default: 67,108,864. */
  readonly maxStreamBytes?: number
  /** Most milliseconds until a request is answered, and the answer is read unless it is a stream. Default: 60,000. */
  readonly requestTimeoutMs?: number
  /** Milliseconds of silence after which a stream counts as lost, and is opened again. Default: 60,000. */
  readonly silenceMs?: number
  /**
   * Milliseconds before a task is polled again, without a stream. Each further wait is longer, up to five times. Default: 1,000.
   */
  readonly pollMs?: number
  /** Most milliseconds to cancel a task, and as many before that to wait for the answer that names it. Default: 5,000. */
  readonly cancelTimeoutMs?: number
  /** Sends the requests, in tests. Default: the runtime's own client. */
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>
  /** As with `Agent`: `false` keeps it out of the registry. Default: the default registry. */
  readonly register?: RegisterOption
}

/** The options with their defaults. */
export interface RemoteSettings
  extends Required<Pick<RemoteAgentOptions, 'name' | 'origins' | 'allow' | 'extensions' | keyof Limits>>,
    Optional<Pick<RemoteAgentOptions, 'headers' | 'tenant' | 'agentName' | 'skillId' | 'verify' | 'fetch'>> {
  readonly url: URL
}

type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/** Limits and waits. */
type Limits = Required<
  Pick<
    RemoteAgentOptions,
    'maxBytes' | 'maxStreamBytes' | 'requestTimeoutMs' | 'silenceMs' | 'pollMs' | 'cancelTimeoutMs'
  >
>

const DEFAULTS: Limits = {
  maxBytes: 4 * 1024 * 1024,
  maxStreamBytes: 64 * 1024 * 1024,
  requestTimeoutMs: 60_000,
  silenceMs: 60_000,
  pollMs: 1000,
  cancelTimeoutMs: 5000,
}

const text = v.optional(v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty')))

const OptionsSchema = v.strictObject({
  url: v.pipe(
    v.string('must be a URL'),
    v.check(
      url => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
      'must be a URL that begins with https: or http:',
    ),
    v.check(
      url => !URL.canParse(url) || (new URL(url).username === '' && new URL(url).password === ''),
      'must have no user name and password: send them with `headers`',
    ),
  ),
  name: v.optional(
    v.pipe(
      v.string('must be a string'),
      v.check(
        name => name.length > 0 && name.length <= MAX_NAME_LENGTH && name !== '.' && name !== '..',
        `must be text of 1 to ${MAX_NAME_LENGTH} characters`,
      ),
    ),
  ),
  description: v.optional(v.string('must be a string')),
  headers: v.optional(func),
  origins: v.optional(origins()),
  allow: v.optional(strings),
  tenant: text,
  agentName: text,
  skillId: text,
  extensions: v.optional(strings),
  verify: v.optional(func),
  maxBytes: v.optional(count),
  maxStreamBytes: v.optional(count),
  requestTimeoutMs: v.optional(duration),
  silenceMs: v.optional(duration),
  pollMs: v.optional(duration),
  cancelTimeoutMs: v.optional(duration),
  fetch: v.optional(func),
  register: v.optional(v.union([flag, registry], 'must be true, false or a Registry')),
})

/** Checks options and fills in defaults. Throws `invalid_options` that names each wrong one. */
export function settingsOf(options: RemoteAgentOptions): RemoteSettings {
  validate(OptionsSchema, options, 'invalid_options', 'remoteAgent')
  const {
    origins = [],
    allow = [],
    extensions = [],
    headers,
    tenant,
    agentName,
    skillId,
    verify,
    fetch,
  } = options
  const url = new URL(options.url)
  const given = Object.entries(options).filter(([name, value]) => name in DEFAULTS && value !== undefined)
  return {
    url,
    name: options.name ?? url.host,
    origins: [url.origin, ...origins],
    ...{ allow, extensions, headers, tenant, agentName, skillId, verify, fetch },
    ...DEFAULTS,
    ...(Object.fromEntries(given) as Partial<Limits>),
  }
}
