import { escaped, ownerOf } from '../../agents/memory.ts'
import type { RunContext } from '../../agents/work/perform.ts'

/**
 * The id of the conversation in a framework's memory. Each owner has its own. Undefined if the run has no session, or if its
 * client sends the history.
 */
export function threadOf(context: RunContext): string | undefined {
  const { sessionId, history } = context
  if (sessionId === undefined || history !== undefined) return undefined
  const owner = ownerOf(context)
  return owner === undefined ? escaped(sessionId) : `${owner}/${escaped(sessionId)}`
}
