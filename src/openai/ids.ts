/**
 * Ids as OpenAI's clients see them. Each holds the id of its run, so that the run is found again and nothing else has to be kept.
 *
 * @module
 */

/** An id of a run, or of what it says: `resp_` and 32 hexadecimal digits, perhaps with what tells parts apart. */
export function idOf(prefix: string, runId: string, part?: number | string): string {
  return `${prefix}_${runId.replaceAll('-', '')}${part === undefined ? '' : `_${part}`}`
}

/** The run that an id holds; undefined for an id of anything else. */
export function runOf(id: string): string | undefined {
  const [, ...groups] =
    /^[a-z]+_([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})(?:_\w+)?$/.exec(id) ?? []
  return groups.length === 0 ? undefined : groups.join('-')
}

/** Digits of a run's id to the base 36. Clients and other services take ids of calls of at most 40 characters. */
const DIGITS = 25

/** The id of a call of a client's tool: at most 37 characters. */
export function callIdOf(runId: string, toolCallId: string): string {
  const digits = BigInt(`0x${runId.replaceAll('-', '')}`)
    .toString(36)
    .padStart(DIGITS, '0')
  return `call_${digits}${hashOf(toolCallId)}`
}

/** The run that a call waits in; undefined for an id of anything else. */
export function runOfCall(id: string): string | undefined {
  const [, digits] = /^call_([\da-z]{25})[\da-z]{1,7}$/.exec(id) ?? []
  if (digits === undefined) return undefined
  const value = [...digits].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)
  return runOf(`run_${value.toString(16).padStart(32, '0')}`)
}

/** The id of an approval. */
export function approvalIdOf(runId: string, toolCallId: string): string {
  return idOf('mcpr', runId, hashOf(toolCallId))
}

/** Tells the calls of one run apart (FNV-1a, 32 bits). */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(36)
}
