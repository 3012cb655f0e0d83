/**
 * What the bindings share: reading a request's version, identity and keys, and streaming updates.
 *
 * @module
 */

import { isServableError, isUntold, messageOf, reportError, ServableError } from '../errors.ts'
import { RequestAsker } from '../http/asker.ts'
import type { RequestState } from '../http/context.ts'
import type { KeyReader } from '../http/key-headers.ts'
import { queryOf } from '../http/router.ts'
import { readJson } from '../web/body.ts'
import { type Reply, sseReply } from '../web/reply.ts'
import { counted, type PulledSource, pulled, type StreamCount } from '../web/sse.ts'
import type { TaskUpdate } from './model.ts'
import type { Call, Operations } from './operations.ts'
import type { UpdateSource } from './updates.ts'
import type { Wire } from './wire/wire.ts'

/** What both bindings need. */
export interface BindingOptions {
  readonly operations: Operations
  readonly readKeys: KeyReader
  /** Most bytes of a body. */
  readonly maxBodyBytes: number
  readonly production: boolean
  readonly countStream: StreamCount | undefined
  /** Who may read the extended card is decided with it. */
  readonly hasExtendedCard: boolean
  /** Throws `unsupported_operation` where nobody else would find the task of a request. */
  readonly checkServed: (state: RequestState) => void
}

/** The generation that a request asks for. */
export type Version = '1.0' | '0.3'

const VERSION = /^(\d+)\.(\d+)(?:\.\d+)?$/

/**
 * The version of the `A2A-Version` header or query parameter; undefined without one (then the method or the path tells,
 * as before 1.0). Patch numbers are ignored. Throws `version_not_supported` for one that is not served.
 */
export function versionOf(request: Request): Version | undefined {
  const given = request.headers.get('a2a-version') || queryOf(request.url).get('A2A-Version')
  if (!given) return undefined
  const [, major, minor] = VERSION.exec(given.trim()) ?? []
  if (major === '1' && minor === '0') return '1.0'
  if (major === '0' && (minor === '2' || minor === '3')) return '0.3'
  throw new ServableError('version_not_supported', 'Use the protocol version 1.0, 0.3 or 0.2')
}

/** The body as JSON. Throws `parse_error` where it is none or is nested too deep, as both bindings call it. */
export async function readParams(request: Request, maxBytes: number): Promise<unknown> {
  try {
    return await readJson(request, maxBytes)
  } catch (cause) {
    if (isServableError(cause) && cause.code !== 'invalid_body') throw cause
    throw new ServableError('parse_error', messageOf(cause), { cause })
  }
}

/** What an operation gets of a request, which is refused as `checkServed` says. */
export function callOf(
  request: Request,
  state: RequestState,
  { wire, params, agent }: { wire: Wire; params: unknown; agent: string | undefined },
  { readKeys, checkServed }: BindingOptions,
): Call {
  checkServed(state)
  const last = request.headers.get('last-event-id')
  return {
    request,
    state,
    wire,
    params,
    agent,
    owner: state.owner,
    asker: new RequestAsker(request, state, readKeys),
    lastEventId: last !== null && /^\d{1,15}$/.test(last) ? Number(last) : undefined,
  }
}

/** How a binding writes a stream. */
export interface StreamWriter {
  /** The lines of one update, with its id. */
  update(update: TaskUpdate, seq: number): string
  /** The lines of a failure in the middle of a stream. */
  failure(report: ReturnType<typeof reportError>): string
}

/** How a stream is answered. */
export interface StreamOptions extends Pick<BindingOptions, 'production' | 'countStream'> {
  /** Told what ends it before its end. */
  readonly tell: (error: unknown) => void
}

/** Updates as SSE (section 11.7 of the specification, 9.4.2 for JSON-RPC). A client that leaves stops nothing. */
export function streamResponse(
  updates: UpdateSource,
  writer: StreamWriter,
  { production, countStream, tell }: StreamOptions,
): Reply {
  let hasFailed = false
  const source: PulledSource = {
    cancel: () => updates.leave(),
    async next() {
      if (hasFailed) return undefined
      try {
        const batch = await updates.next()
        return batch?.map(({ seq, update }) => writer.update(update, seq)).join('')
      } catch (error) {
        hasFailed = true
        updates.leave()
        if (isUntold(error)) tell(error)
        return writer.failure(reportError(error, production, 'internal_error'))
      }
    },
  }
  return sseReply(counted(pulled(source), countStream))
}
