/**
 * Ids in LangGraph's form: all are UUIDs.
 *
 * @module
 */

import * as v from 'valibot'

/** The namespace in which LangGraph makes the ids of assistants from the names of their graphs. */
const NAMESPACE = '6ba7b8219dad11d180b400c04fd430c8'

/** The id of a thread, a run or a checkpoint, in lower case. */
export const uuid: v.GenericSchema<unknown, string> = v.pipe(
  v.string('must be a UUID'),
  v.regex(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, 'must be a UUID'),
  v.toLowerCase(),
)

/** The id of the assistant of a graph: a UUID of version 5 (RFC 9562, 5.5), so that each process makes the same. */
export async function assistantIdOf(graphId: string): Promise<string> {
  const name = new TextEncoder().encode(graphId)
  const namespace = Uint8Array.from(NAMESPACE.match(/../g) ?? [], hex => Number.parseInt(hex, 16))
  const digest = await crypto.subtle.digest('SHA-1', new Uint8Array([...namespace, ...name]))
  const bytes = new Uint8Array(digest).slice(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return dashed(Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join(''))
}

/**
 * The id of a checkpoint: a UUID of version 7 (RFC 9562, 5.7) that begins with its time, because clients order checkpoints by their ids.
 * `of` is the id of a run or a thread.
 */
export function checkpointIdOf(atMs: number, part: number, of: string): string {
  const time = Math.trunc(atMs).toString(16).padStart(12, '0').slice(-12)
  const rest = of
    .replace(/[^\da-f]/gi, '')
    .toLowerCase()
    .padStart(15, '0')
    .slice(-15)
  return dashed(`${time}7${part.toString(16).padStart(3, '0')}8${rest}`)
}

function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
