import { escaped, ownerOf } from '../../agents/owner.ts'
import type { RunContext } from '../../agents/work/perform.ts'

/** The id of the conversation in a framework's memory; undefined where the run belongs to none, or its client tells the history. A session is its owner's. */
export function threadOf(context: RunContext): string | undefined {
  const { sessionId, history } = context
  if (sessionId === undefined || history !== undefined) return undefined
  const owner = ownerOf(context)
  return owner === undefined ? escaped(sessionId) : `${owner}/${escaped(sessionId)}`
}
