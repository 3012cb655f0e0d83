/**
 * Reads values from other code. Missing and unexpected values are undefined.
 *
 * @module
 */

/** The members of any value. */
export type UnknownFields = Readonly<Record<string, unknown>>

/** The members of an object or a function. Other values have none. */
export function fieldsOf(value: unknown): UnknownFields {
  const hasFields = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return hasFields ? (value as UnknownFields) : {}
}

/** The text. Undefined if the value is empty or is not text. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The number. Undefined if the value is not a finite number. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The value, if it is an object or a list. */
export function objectIn(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null ? value : undefined
}

/** The items of an array. Other values have none. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Whether a value has methods of all these names. */
export function hasMethods(value: unknown, ...names: string[]): boolean {
  const fields = fieldsOf(value)
  return names.every(name => typeof fields[name] === 'function')
}

/** Calls a method by its name. The caller has checked that it exists. */
export function callMethod(target: unknown, name: string, ...args: readonly unknown[]): unknown {
  return (fieldsOf(target)[name] as (...args: readonly unknown[]) => unknown).apply(target, [...args])
}

/** The items of a framework's stream. A value that is not a stream has none. */
export async function* itemsOf(stream: unknown): AsyncGenerator<unknown> {
  if (isAsyncIterable(stream)) yield* stream
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in fieldsOf(value)
}
