/**
 * What resources and prompts share: names, pages of lists, and completion.
 *
 * @module
 */

import * as v from 'valibot'
import { callerOf } from '../../core/callers.ts'
import type { PluginCore } from '../../core/plugin.ts'
import type { Asked, AskedFiles, Completes, McpRequest } from './request.ts'
import { type Fields, INVALID_PARAMS, RpcError } from './rpc.ts'

/** Things of one page of a list. */
const MAX_PAGE = 500

/** Milliseconds for which a client may cache a list. */
export const TTL_MS = 60_000

/** How a list may be cached that depends on who asks. */
export const PRIVATE: { readonly ttlMs: number; readonly cacheScope: string } = {
  ttlMs: TTL_MS,
  cacheScope: 'private',
}

type Optional = v.OptionalSchema<v.GenericSchema, undefined>

const text: Optional = v.optional(v.string('must be text'))

/** How clients show a thing. */
export const NamedSchema: Readonly<Record<'name' | 'title' | 'description' | 'icons', Optional>> = {
  name: text,
  title: text,
  description: text,
  icons: v.optional(v.array(v.looseObject({ src: v.string() }), 'must be an array of `{ src }`')),
}

/** Who asks. */
export function askedBy({ state, request, core }: McpRequest): Asked {
  return {
    identity: state.identity,
    // Plugins get a part of it.
    caller: callerOf(core as unknown as PluginCore, request, state),
    files: filesOf(core, state),
    find: (kind, name) => core.catalog.find(kind, name),
    signal: request.signal,
  }
}

/** Most files of a list. */
const MAX_FILES = 500

function filesOf({ runs: { files } }: McpRequest['core'], { owner }: McpRequest['state']): AskedFiles {
  return {
    list: async () => (owner === null ? [] : ((await files?.made?.(owner, MAX_FILES)) ?? [])),
    open: async (runId, place) => files?.open?.({ runId, owner }, place),
    placeOf: async address => files?.placeOf?.(address),
  }
}

/** A page of a list. Throws an {@link RpcError} for a cursor that no page has. */
export function page(name: string, all: readonly object[], { params: { cursor = '0' } }: McpRequest): object {
  if (typeof cursor !== 'string' || !/^\d{1,9}$/.test(cursor) || Number(cursor) % MAX_PAGE !== 0)
    throw new RpcError(INVALID_PARAMS, '`cursor` must be one of an earlier page', 200)
  const from = Number(cursor)
  const next = from + MAX_PAGE
  return { [name]: all.slice(from, next), ...(next < all.length && { nextCursor: String(next) }) }
}

/** Most values of a completion (MCP, completion). */
const MAX_VALUES = 100

/** Most characters of a value to complete. */
const MAX_VALUE = 2000

/** The completion of a client's argument. An argument that nothing completes has no values. */
export async function completed(
  rpc: McpRequest,
  completes: Readonly<Record<string, Completes>> = {},
): Promise<object> {
  const { argument, context } = rpc.params
  const { name, value } = Object(argument) as Fields
  if (typeof name !== 'string' || typeof value !== 'string' || value.length > MAX_VALUE)
    throw new RpcError(INVALID_PARAMS, '`argument` must have a `name` and a `value`', 200)
  const complete = Object.hasOwn(completes, name) ? completes[name] : undefined
  const given = Object.entries(Object(Object(context).arguments)).filter(
    (each): each is [string, string] => typeof each[1] === 'string',
  )
  const all = (await complete?.(value, { ...askedBy(rpc), arguments: Object.fromEntries(given) })) ?? []
  const values = all.slice(0, MAX_VALUES)
  return { completion: { values, total: all.length, hasMore: all.length > values.length } }
}
