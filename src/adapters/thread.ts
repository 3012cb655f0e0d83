import { escaped, ownerOf } from '../agents/owner.ts'
import type { RunContext } from '../agents/perform.ts'

/**
 * The id of the conversation in a framework's memory. Undefined if the run has no session. Each owner has sessions of their
 * own.
 */
export function threadOf(context: RunContext): string | undefined {
  const { sessionId } = context
  if (sessionId === undefined) return undefined
  const owner = ownerOf(context)
  return owner === undefined ? escaped(sessionId) : `${owner}/${escaped(sessionId)}`
}
