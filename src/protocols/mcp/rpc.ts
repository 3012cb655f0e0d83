/**
 * JSON-RPC 2.0, as MCP uses it: one message in each request, and no batches.
 *
 * @module
 */

import { isClientErrorCode } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import type { Problem } from '../../web/problem.ts'
import { jsonReply, type Reply } from '../../web/reply.ts'

/** The id of a request. */
export type Id = string | number

/** Members of an object of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** A message of a client: a request, a notification (without an id), or a response (without a method). */
export interface RpcMessage {
  readonly id: Id | undefined
  readonly method: string | undefined
  readonly params: Fields
  /** The result of a response. */
  readonly result: unknown
}

/** An error of the protocol. */
export class RpcError extends Error {
  readonly code: number
  readonly status: number
  readonly data: object | undefined

  constructor(code: number, message: string, status = 400, data?: object) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

/** The codes of errors (JSON-RPC 2.0, section 5.1; MCP 2026-07-28, errors). */
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
/** Of the revisions before 2026-07-28. */
export const RESOURCE_NOT_FOUND = -32002
export const HEADER_MISMATCH = -32020
export const MISSING_CAPABILITY = -32021
export const UNSUPPORTED_VERSION = -32022

/** Most characters of an id or a token. Each message of a stream repeats it. */
const MAX_ID = 1000

/** Whether a value can be an id, or a token of progress. */
export function isId(value: unknown): value is Id {
  return Number.isInteger(value) || (typeof value === 'string' && value.length <= MAX_ID)
}

/** Reads a message. Throws an {@link RpcError}. */
export function messageIn(body: unknown): RpcMessage {
  const { jsonrpc, id, method, params = {}, result } = Object(body) as Fields
  const isMessage =
    jsonrpc === '2.0' && (typeof method === 'string' || (method === undefined && id !== undefined))
  if (!(id === undefined || isId(id)) || !isMessage || !isObject(params))
    throw new RpcError(INVALID_REQUEST, 'The body must be one JSON-RPC 2.0 message: batches are not taken')
  return { id, method, params, result }
}

/** The message that answers a request with an error. */
export function rpcError(id: Id | undefined, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id: id ?? null, error: { code, message, data } }
}

/** The reply to a request that failed. */
export function errorReply(id: Id | undefined, error: RpcError): Reply {
  return jsonReply(rpcError(id, error), { status: error.status })
}

/** A problem in the form of the protocol, with its status and headers. */
export async function problemError(problem: Response, id?: Id): Promise<Response> {
  const error = await errorOf(problem)
  const headers = new Headers(problem.headers)
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(rpcError(id, error)), { status: error.status, headers })
}

/** The error of a problem. */
async function errorOf(problem: Response): Promise<RpcError> {
  const { code, detail } = (await problem.json()) as Problem
  return new RpcError(rpcCodeOf(code), detail, problem.status, { code })
}

/** The code of an error of this library. */
export function rpcCodeOf(code: string): number {
  if (!isClientErrorCode(code)) return INTERNAL_ERROR
  if (code === 'parse_error') return -32700
  return /^invalid_|_not_found$/.test(code) ? INVALID_PARAMS : -32000
}
