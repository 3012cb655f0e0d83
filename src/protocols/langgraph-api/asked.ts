/**
 * One request, as the endpoints of this plugin read it.
 *
 * @module
 */

import {
  type Caller,
  type Calls,
  type Context,
  callerOf,
  type PluginCore,
  ServableError,
} from '../../core-entry.ts'
import { jsonReply, type Reply, type ReplyHeaders } from '../../web/reply.ts'
import { isObject, misfit, queryOf, readJson, requireJson } from '../encoders/index.ts'
import type { Assistants } from './assistants.ts'
import type { THREADS_KEPT } from './kept.ts'

/** What all requests share. */
export interface Api {
  readonly core: PluginCore
  readonly assistants: Assistants
  readonly kept: Calls<(typeof THREADS_KEPT)['works'], string>
}

/** The fields of a body. */
export type Fields = Readonly<Record<string, unknown>>

/** A request. */
export class Asked {
  readonly api: Api
  readonly request: Request
  readonly context: Context
  readonly caller: Caller
  readonly query: URLSearchParams

  constructor(api: Api, request: Request, context: Context) {
    this.api = api
    this.request = request
    this.context = context
    this.caller = callerOf(api.core, request, context)
    this.query = queryOf(request.url)
  }

  /** A parameter of the path. */
  param(name: string): string {
    return this.context.params[name] ?? ''
  }

  /** The body: an object. Empty for a request without one. Throws `invalid_body`. */
  async body(): Promise<Fields> {
    if (this.request.body === null || this.request.headers.get('content-length') === '0') return {}
    requireJson(this.request)
    const body = await readJson(this.request, this.api.core.maxBodyBytes)
    if (isObject(body)) return body
    throw misfit('body', 'must be a JSON object')
  }

  /** A body that is a list of objects. Throws `invalid_body`. */
  async list(field: string, max: number): Promise<readonly Fields[]> {
    requireJson(this.request)
    const body = await readJson(this.request, this.api.core.maxBodyBytes)
    if (Array.isArray(body) && body.length <= max && body.every(isObject)) return body
    throw misfit(field, `must be an array of at most ${max} objects`)
  }

  /** The owner of threads. Throws `unauthorized` without an identity: whoever guessed an id would read what others said. */
  get owner(): string {
    const { owner } = this.caller
    if (owner === null) {
      throw new ServableError('unauthorized', 'Threads need a caller with an identity: see `authenticate`')
    }
    return owner
  }

  /** Whether a flag in the query is set. */
  flag(name: string): boolean {
    return ['1', 'true'].includes(this.query.get(name) ?? '')
  }
}

/** A number of a body or of a query. Throws `invalid_body`. */
export function numberIn(value: unknown, field: string, fallback: number, max: number): number {
  if (value === undefined || value === null) return fallback
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0) return Math.min(number, max)
  throw misfit(field, `must be a whole number up to ${max}`)
}

/** An object of a body. Throws `invalid_body`. */
export function objectIn(value: unknown, field: string): Fields {
  if (value === undefined || value === null) return {}
  if (isObject(value)) return value
  throw misfit(field, 'must be an object')
}

/** One of some texts. Throws `invalid_body`. */
export function choiceIn<const T extends string>(
  value: unknown,
  field: string,
  choices: readonly T[],
  fallback: T,
): T {
  if (value === undefined || value === null) return fallback
  const found = choices.find(each => each === value)
  if (found !== undefined) return found
  throw misfit(field, `must be ${choices.map(each => `\`${each}\``).join(' or ')}`)
}

/** Whether an object has all that another one has. */
export function contains(value: unknown, part: unknown): boolean {
  if (!isObject(part) || !isObject(value)) return JSON.stringify(value) === JSON.stringify(part)
  return Object.entries(part).every(([key, each]) => Object.hasOwn(value, key) && contains(value[key], each))
}

/** A page of a list, with its size in headers. */
export function pageReply<T>(
  all: readonly T[],
  offset: number,
  limit: number,
  items: readonly unknown[],
): Reply {
  const next = offset + limit
  const headers: ReplyHeaders = {
    'x-pagination-total': String(all.length),
    ...(next < all.length && { 'x-pagination-next': String(next) }),
  }
  return jsonReply(items, { headers: { ...headers, ...NO_STORE } })
}

/** Answers are somebody's own. */
export const NO_STORE: ReplyHeaders = { 'cache-control': 'no-store' }

/** The fields of an item that a client selects. */
export function selected(item: Fields, select: unknown): Fields {
  if (!Array.isArray(select)) return item
  return Object.fromEntries(Object.entries(item).filter(([key]) => select.includes(key)))
}

/** An answer without content. */
export function empty(status: 202 | 204 = 204): Response {
  return new Response(null, { status })
}
