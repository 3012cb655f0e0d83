/**
 * Ids as OpenAI's clients see them. Each holds the id of its run, so that the run is found again and nothing else has to be kept.
 *
 * @module
 */

/** An id of a run, or of a part of what it says: a prefix, and the 32 hexadecimal digits of the run. */
export function idOf(prefix: string, runId: string, part = ''): string {
  return `${prefix}_${runId.replaceAll('-', '')}${part}`
}

/** The run that an id holds; undefined for an id of anything else. */
export function runOf(id: string): string | undefined {
  const [, hex] = /^[a-z]+_([\da-f]{32})\w{0,20}$/.exec(id) ?? []
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The id of a call of a client's tool, of at most 40 characters: other services take no longer one in a history. */
export function callIdOf(runId: string, toolCallId: string): string {
  return idOf('c', runId, hashOf(toolCallId))
}

/** The id of a request for an approval. */
export function approvalIdOf(runId: string, toolCallId: string): string {
  return idOf('mcpr', runId, hashOf(toolCallId))
}

/** Tells the calls of one run apart (FNV-1a, 30 bits): at most six characters. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 2).toString(36)
}
