/**
 * Reads values of other people's making: what is not there, or not what was expected, is undefined.
 *
 * @module
 */

/** The members of a value that may have any. */
export type Fields = Readonly<Record<string, unknown>>

/** The members of an object or a function; of anything else, none. */
export function fieldsOf(value: unknown): Fields {
  const hasFields = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return hasFields ? (value as Fields) : {}
}

/** The text, unless it is empty or no text. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The number, unless it is none or endless. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The value, if it is an object or a list. */
export function objectIn(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null ? value : undefined
}

/** The items of a list; of anything else, none. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Whether a value has methods of all these names. */
export function hasMethods(value: unknown, ...names: string[]): boolean {
  const fields = fieldsOf(value)
  return names.every(name => typeof fields[name] === 'function')
}

/** Calls a method by its name. The caller has looked whether there is one. */
export function callMethod(target: unknown, name: string, ...args: readonly unknown[]): unknown {
  return (fieldsOf(target)[name] as (...args: readonly unknown[]) => unknown).apply(target, [...args])
}

/** What a stream of a framework gives; nothing where it is no stream. */
export async function* itemsOf(stream: unknown): AsyncGenerator<unknown> {
  if (isAsyncIterable(stream)) yield* stream
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in fieldsOf(value)
}
