/**
 * The parts that the bindings share: reading a request's version, identity and keys, and streaming updates.
 *
 * @module
 */

import {
  type ErrorReport,
  isServableError,
  messageOf,
  reportError,
  ServableError,
  shouldLog,
} from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import type { RequestState } from '../../http/context.ts'
import { queryOf } from '../../http/router.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import type { KeyReader } from '../../http/security/key-headers.ts'
import { readJson } from '../../web/body.ts'
import { type Reply, sseReply } from '../../web/reply.ts'
import { counted, pulled, type StreamCount } from '../../web/sse.ts'
import { type AgentExtension, activate } from './cards/extensions.ts'
import type { TaskUpdate } from './model.ts'
import type { A2AOperations, OperationCall, OperationName } from './operations.ts'
import type { UpdateSource } from './tasks/updates.ts'
import type { Tenants } from './tenants.ts'

/** What both bindings need. */
export interface BindingOptions {
  readonly operations: A2AOperations
  readonly readKeys: KeyReader
  /** Most bytes of a request's body. */
  readonly maxBodyBytes: number
  readonly production: boolean
  readonly countStream: StreamCount | undefined
  /** Whether there is an extended card. Its own `authenticate` then decides who may read it. */
  readonly hasExtendedCard: boolean
  /** Throws `unsupported_operation` if a task of this request could not be found by later requests. */
  readonly checkServed: (state: RequestState) => void
  /** Extensions that a request may activate. */
  readonly extensions: readonly AgentExtension[]
  readonly tenants: Tenants
}

/** The protocol generation of a request. */
export type ProtocolVersion = '1.0' | '0.3'

const VERSION = /^(\d+)\.(\d+)(?:\.\d+)?$/

/**
 * Returns the version of the `A2A-Version` header or query parameter, without its patch number. Returns undefined if
 * neither is given; the method or the path then determines the version, as before 1.0. Throws `version_not_supported` for
 * any other version.
 */
export function versionOf(request: Request): ProtocolVersion | undefined {
  const given = request.headers.get('a2a-version') || queryOf(request.url).get('A2A-Version')
  if (!given) return undefined
  const [, major, minor] = VERSION.exec(given.trim()) ?? []
  if (major === '1' && minor === '0') return '1.0'
  if (major === '0' && (minor === '2' || minor === '3')) return '0.3'
  throw new ServableError('version_not_supported', 'Use the protocol version 1.0, 0.3 or 0.2')
}

/** Parses the body as JSON. Throws `parse_error` if it is not valid JSON or is nested too deeply. */
export async function readParams(request: Request, maxBytes: number): Promise<unknown> {
  try {
    return await readJson(request, maxBytes)
  } catch (cause) {
    if (isServableError(cause) && cause.code !== 'invalid_body') throw cause
    throw new ServableError('parse_error', messageOf(cause), { cause })
  }
}

/** What a binding has read of a request. */
export interface RequestRead extends Pick<OperationCall, 'wire' | 'params' | 'agent'> {
  readonly operation: OperationName
}

/**
 * Makes the call of an operation from a request. Throws the error of `checkServed`, and `forbidden` for a tenant that the caller
 * may not use.
 */
export async function callOf(
  request: Request,
  state: RequestState,
  { operation, ...read }: RequestRead,
  { readKeys, checkServed, extensions, tenants }: BindingOptions,
): Promise<OperationCall> {
  checkServed(state)
  const { identity } = state
  const last = request.headers.get('last-event-id')
  const namedTenant = state.params.tenant ?? tenantIn(read)
  // The extended card identifies the caller by itself.
  const isAdmittedHere = operation !== 'extendedCard'
  const tenant = isAdmittedHere ? await tenants.admit(namedTenant, { identity, state, request }) : undefined
  return {
    request,
    state,
    ...read,
    viewer: { owner: state.owner, tenant },
    namedTenant,
    extensions: activate(request, state.responseHeaders, extensions),
    asker: new RequestAsker(request, state, readKeys),
    lastEventId: last !== null && /^\d{1,15}$/.test(last) ? Number(last) : undefined,
  }
}

/** The tenant in the parameters. Only those of 1.0 have one. */
function tenantIn({ wire, params }: Pick<OperationCall, 'wire' | 'params'>): unknown {
  return wire.version === '1.0' && isObject(params) ? params.tenant : undefined
}

/** The report of an error that a request ends in, for its answer. Throws an error that is not this package's again. */
export function reportOf(
  error: unknown,
  request: Request,
  state: RequestState,
  { production }: Pick<BindingOptions, 'production'>,
): ErrorReport {
  if (!isServableError(error)) throw error
  if (shouldLog(error)) state.logThrown('request.failed', error, request)
  return reportError(error, production, 'internal_error')
}

/** How a binding writes the events of a stream. */
export interface StreamWriter {
  /** Returns the lines of one update, with the id of the event. */
  update(update: TaskUpdate, seq: number): string
  /** Returns the lines of an error that ends a stream. */
  failure(report: ErrorReport): string
}

/** Settings of a streamed answer. */
export interface UpdateStreamOptions extends Pick<BindingOptions, 'production' | 'countStream'> {
  /** Is called with the error that ends a stream early. */
  readonly report: (error: unknown) => void
}

/**
 * Sends updates as SSE (section 11.7 of the specification; section 9.4.2 for JSON-RPC). When the client leaves, the task
 * continues.
 */
export function streamResponse(
  updates: UpdateSource,
  writer: StreamWriter,
  { production, countStream, report }: UpdateStreamOptions,
): Reply {
  const source = pulled({
    cancel: () => updates.leave(),
    async next() {
      const batch = await updates.next()
      return batch?.map(({ seq, update }) => writer.update(update, seq)).join('')
    },
    broken(error) {
      if (shouldLog(error)) report(error)
      return writer.failure(reportError(error, production, 'internal_error'))
    },
  })
  return sseReply(counted(source, countStream))
}
