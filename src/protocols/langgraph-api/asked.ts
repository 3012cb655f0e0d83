/**
 * One request, as the endpoints of this plugin read it.
 *
 * @module
 */

import * as v from 'valibot'
import {
  type Caller,
  type Calls,
  type Context,
  callerOf,
  type PluginCore,
  ServableError,
} from '../../core-entry.ts'
import { jsonReply, type Reply } from '../../web/reply.ts'
import { isObject, list, queryOf, readJson, requireJson, validate } from '../encoders/index.ts'
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

  constructor(api: Api, request: Request, context: Context) {
    this.api = api
    this.request = request
    this.context = context
    this.caller = callerOf(api.core, request, context)
  }

  /** A parameter of the path. */
  param(name: string): string {
    return this.context.params[name] ?? ''
  }

  /** The body: an object. A request without one has an empty one. Throws `invalid_body`. */
  async body<T>(schema: v.GenericSchema<unknown, T>): Promise<T> {
    const { body, headers } = this.request
    const given = body === null || headers.get('content-length') === '0' ? {} : await this.#json()
    return validate(schema, validate(fields, given, 'invalid_body', 'body'), 'invalid_body', 'body')
  }

  /** A body that is a list. Throws `invalid_body`. */
  async bodies<T>(schema: v.GenericSchema<unknown, T>, max: number): Promise<readonly T[]> {
    return validate(list(schema, max), await this.#json(), 'invalid_body', 'body')
  }

  #json(): Promise<unknown> {
    requireJson(this.request)
    return readJson(this.request, this.api.core.maxBodyBytes)
  }

  /** The query. A parameter that is given several times is an array. Throws `invalid_query`. */
  query<T>(schema: v.GenericSchema<unknown, T>): T {
    const query = queryOf(this.request.url)
    const all = [...new Set(query.keys())].map(key => [key, query.getAll(key)] as const)
    const given = Object.fromEntries(
      all.map(([key, values]) => [key, values.length > 1 ? values : values[0]]),
    )
    return validate(schema, given, 'invalid_query', 'query')
  }

  /** The owner of threads. Throws `unauthorized` without an identity: whoever guessed an id would read what others said. */
  get owner(): string {
    const { owner } = this.caller
    if (owner !== null) return owner
    throw new ServableError('unauthorized', 'Threads need a caller with an identity: see `authenticate`')
  }
}

/** Any object. */
export const fields: v.GenericSchema<unknown, Fields> = v.custom<Fields>(isObject, 'must be an object')

/** Most entries of metadata, and characters of it as JSON. */
const MAX_ENTRIES = 1000
const MAX_METADATA = 65_536

/** What a client says of a thread or a run. Default: nothing. */
export const metadata: v.GenericSchema<unknown, Fields> = v.nullish(
  v.pipe(
    fields,
    v.check(value => Object.keys(value).length <= MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`),
    v.check(
      value => JSON.stringify(value).length <= MAX_METADATA,
      `must have at most ${MAX_METADATA} characters as JSON`,
    ),
  ),
  {},
)

/** One of some texts. */
export function choice<const T extends string>(all: readonly T[], fallback: T): v.GenericSchema<unknown, T> {
  return v.nullish(
    v.picklist(all, `must be ${all.map(each => `\`${each}\``).join(' or ')}`),
    fallback,
  ) as never
}

/** A whole number, also as text. */
export function whole(
  fallback: number,
  max: number = Number.MAX_SAFE_INTEGER,
): v.GenericSchema<unknown, number> {
  const number = v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.nonEmpty(), v.transform(Number))], 'must be a number'),
    v.custom<number>(
      value => Number.isInteger(value) && Number(value) >= 0,
      'must be a whole number, 0 or more',
    ),
    v.transform(value => Math.min(value, max)),
  )
  return v.nullish(number, fallback) as never
}

/** What is not supported, so that nobody believes it was done. An empty list is as good as nothing. */
export function never(why: string): v.GenericSchema<unknown, unknown> {
  return v.nullish(v.pipe(v.array(v.unknown(), why), v.maxLength(0, why)))
}

/** The paging of lists. */
export const page: {
  readonly offset: v.GenericSchema<unknown, number>
  readonly limit: v.GenericSchema<unknown, number>
} = {
  offset: whole(0),
  limit: whole(10, 1000),
}

/** Whether an object has all that another one has. */
export function contains(value: unknown, part: unknown): boolean {
  if (!isObject(part) || !isObject(value)) return JSON.stringify(value) === JSON.stringify(part)
  return Object.entries(part).every(([key, each]) => Object.hasOwn(value, key) && contains(value[key], each))
}

/** A page of a list, with its size in headers. */
export function pageReply(total: number, next: number, items: readonly unknown[]): Reply {
  const more = next < total && { 'x-pagination-next': String(next) }
  return jsonReply(items, { headers: { ...NO_STORE, 'x-pagination-total': String(total), ...more } })
}

/** Answers are somebody's own. */
export const NO_STORE: { readonly 'cache-control': 'no-store' } = { 'cache-control': 'no-store' }

/** The fields of an item that a client selects. */
export function selected(item: Fields, select: readonly unknown[] | null | undefined): Fields {
  if (!select || select.length === 0) return item
  return Object.fromEntries(Object.entries(item).filter(([key]) => select.includes(key)))
}

/** An answer without content. */
export function empty(status: 202 | 204 = 204): Response {
  return new Response(null, { status })
}
