/**
 * The values of a graph's state as JSON, as LangGraph's own checkpointers write them: sets, maps, bytes and `undefined` have a form of
 * their own, and messages are written by LangChain.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import { callMethod, fieldsOf, hasMethods, listIn, objectIn, type UnknownFields } from '../fields.ts'

/** A value as JSON text. Throws `invalid_event` if it cannot be one. */
export function toText(value: unknown): string {
  try {
    return JSON.stringify(value, written)
  } catch (cause) {
    throw new ServableError('invalid_event', 'A value in the state of the graph cannot be kept as JSON', {
      cause,
    })
  }
}

function written(this: unknown, name: string, json: unknown): unknown {
  const value = fieldsOf(this)[name]
  if (json === undefined) return { lc: 2, type: 'undefined' }
  if (typeof value !== 'object' || value === null) return json
  if (value instanceof Set || value instanceof Map) return made(value.constructor.name, [...value])
  if (value instanceof RegExp) return { ...made('RegExp', value.source), args: [value.source, value.flags] }
  if (value instanceof Error) return made('Error', value.message)
  if (value instanceof Uint8Array) return made('Uint8Array', base64Of(value))
  const { lg_name: kind, node, args, timeout, value: inner } = fieldsOf(value)
  if (kind === 'DeltaSnapshot') return { lc: 2, type: 'delta_snapshot', value: inner }
  if (kind === 'Send') return { node, args, ...(timeout !== undefined && { timeout }) }
  return json
}

function made(name: string, arg: unknown): UnknownFields {
  return { lc: 2, type: 'constructor', id: [name], args: [arg] }
}

/** Makes a message of its JSON; undefined if it cannot. */
export type ToMessage = (json: UnknownFields) => unknown

/** The value of a JSON text. */
export function toValue(text: string, toMessage: ToMessage): unknown {
  return revived(JSON.parse(text), toMessage)
}

/** The value of a JSON value. */
export function revived(json: unknown, toMessage: ToMessage): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map(item => revived(item, toMessage))
  const value: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(json)) {
    // Assigning `__proto__` would set the prototype.
    Object.defineProperty(value, name, {
      ...{ value: revived(member, toMessage), configurable: true, enumerable: true, writable: true },
    })
  }
  if (value.lc === 2) return special(value)
  return value.lc === 1 && value.type === 'constructor' ? message(value, toMessage) : value
}

function special(value: UnknownFields): unknown {
  const [[name] = [], [arg, flags] = []] = [listIn(value.id), listIn(value.args)]
  if (value.type === 'undefined') return undefined
  if (value.type === 'delta_snapshot') return { lg_name: 'DeltaSnapshot', value: value.value }
  if (name === 'Set') return new Set(listIn(arg))
  if (name === 'Map') return new Map(listIn(arg) as [unknown, unknown][])
  if (name === 'RegExp') return new RegExp(String(arg), String(flags))
  if (name === 'Error') return new Error(String(arg))
  return name === 'Uint8Array' ? bytesOf(String(arg)) : value
}

/** A message, or else its members: models take these for a message too. */
function message(json: UnknownFields, toMessage: ToMessage): unknown {
  const kwargs = fieldsOf(json.kwargs)
  return toMessage(json) ?? { type: typeOf(String(listIn(json.id).at(-1))), ...kwargs }
}

/** `AIMessageChunk` is of the type `ai`. */
function typeOf(className: string): string {
  return className.replace(/Message(Chunk)?$/, '').toLowerCase()
}

/**
 * Makes messages by a reducer of the graph: that of LangGraph's `messages` makes one of what LangChain has written. So the messages are
 * of the classes that the graph itself uses.
 */
export function messageMaker(graph: unknown): ToMessage {
  let reducers: Reducer[] | undefined
  return json => {
    reducers ??= [...reducersOf(graph, 0)]
    for (const reduce of reducers) {
      const made = madeBy(reduce, json)
      if (made !== undefined) return made
    }
    return undefined
  }
}

type Reducer = (json: UnknownFields) => unknown

/** The most levels of graphs inside of a graph. */
const MAX_DEPTH = 5

/** Reducers that may make messages: first that of the channel `messages`. */
function* reducersOf(graph: unknown, depth: number): Generator<Reducer> {
  const channels = Object.entries(fieldsOf(fieldsOf(graph).channels))
  for (const [, channel] of channels.sort(([name]) => (name === 'messages' ? -1 : 1))) {
    if (hasMethods(channel, 'operator')) yield json => callMethod(channel, 'operator', [], [json])
    if (hasMethods(channel, 'reducer')) yield json => callMethod(channel, 'reducer', [], [[json]])
  }
  if (depth >= MAX_DEPTH || !hasMethods(graph, 'getSubgraphs')) return
  for (const [, inner] of callMethod(graph, 'getSubgraphs') as Iterable<[string, unknown]>)
    yield* reducersOf(inner, depth + 1)
}

function madeBy(reduce: Reducer, json: UnknownFields): object | undefined {
  let made: unknown
  try {
    made = listIn(reduce(json)).at(-1)
  } catch {
    // Not every reducer takes messages, and not every message is for a list.
    return undefined
  }
  const message = objectIn(made)
  if (message === undefined || !(hasMethods(message, '_getType') || hasMethods(message, 'getType'))) return
  // The reducer gives an id to a message that has none.
  if (fieldsOf(json.kwargs).id === undefined) {
    Object.assign(message, { id: undefined })
    Object.assign(objectIn(fieldsOf(message).lc_kwargs) ?? {}, { id: undefined })
  }
  return message
}

/** Bytes at once: a call takes no more arguments than this. */
const CHUNK = 8192

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(text)
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
}
