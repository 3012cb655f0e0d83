/**
 * Ids for clients. Each contains the id of its run, so the run can be found without storing anything else.
 *
 * @module
 */

/** The id of a run, or of a part of its answer: a prefix, and the 32 hexadecimal digits of the run's id. */
export function idOf(prefix: string, runId: string, part = ''): string {
  return `${prefix}_${runId.replaceAll('-', '')}${part}`
}

/** The run whose id another id contains. Undefined if it contains none. */
export function runOf(id: string): string | undefined {
  const [, hex] = /^[a-z]+_([\da-f]{32})\w{0,20}$/.exec(id) ?? []
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/**
 * The id of a call of a client's tool. It has at most 40 characters, because other services accept no longer ids in a history.
 */
export function callIdOf(runId: string, toolCallId: string): string {
  return idOfCall('c', runId, toolCallId)
}

/** The id of a part of a run's answer that is about a call. */
export function idOfCall(prefix: string, runId: string, toolCallId: string): string {
  return idOf(prefix, runId, hashOf(toolCallId))
}

/** The id of a request for an approval. */
export function approvalIdOf(runId: string, toolCallId: string): string {
  return idOfCall('mcpr', runId, toolCallId)
}

/** A hash that distinguishes the calls of one run (FNV-1a, 30 bits), of at most six characters. */
export function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 2).toString(36)
}
