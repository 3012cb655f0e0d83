/**
 * Members of a team and agents of a workflow as subagents of AG-UI 1.0: each time that one is called is one of them.
 *
 * @module
 */

import type { EventFacts } from '../../agents/contract.ts'
import { idIn } from './answers.ts'
import { trim } from './trim.ts'

/** How a run is named: by us, and by its client with its conversation. */
export interface Named {
  readonly runId: string
  readonly client: { readonly threadId: string; readonly runId: string }
}

/** The mark of what a subagent says. */
export interface Tag {
  readonly subagentRunId?: string
}

/** Where an open step or call is itself. */
export interface Place extends EventFacts {
  readonly isCall?: boolean
}

/** Steps and calls inside of each other that are looked at. */
const MAX_DEPTH = 20

/** `place` is the step or the call in which it was called. */
interface Subagent {
  readonly id: string
  readonly place: string | undefined
  isAtWork: boolean
}

/** See the module's head. */
export class Subagents {
  readonly #run: Named
  readonly #tell: (event: object) => void
  readonly #known = new Map<string, Subagent>()
  #ids = 0

  constructor(run: Named, tell: (event: object) => void) {
    this.#run = run
    this.#tell = tell
  }

  /** The mark of what is said. `placeOf` tells of open steps and calls. */
  at({ agent, parentId }: EventFacts, placeOf: (id: string) => Place | undefined, depth = 0): Tag {
    if (agent === undefined || depth > MAX_DEPTH) return {}
    const around = parentId === undefined ? undefined : placeOf(parentId)
    const outer = around ? this.at(around, placeOf, depth + 1) : {}
    // A step or a call of its own.
    if (around?.agent === agent) return outer
    const key = `${agent}\n${parentId}`
    const known = this.#known.get(key)
    // What members say at once is told one after the other: some of it comes when its step has ended.
    if (known && (known.isAtWork || (parentId && !around))) return { subagentRunId: known.id }
    const subagentRunId = idIn(this.#run.runId, `agent-${++this.#ids}`)
    this.#known.delete(key)
    this.#known.set(key, { id: subagentRunId, place: parentId, isAtWork: true })
    this.#tell({
      type: 'SUBAGENT_STARTED',
      subagentRunId,
      name: agent,
      parentSubagentRunId: outer.subagentRunId,
      parentToolCallId: around?.isCall && parentId,
    })
    trim(this.#known, oldest => this.finish([oldest.id]))
    return { subagentRunId }
  }

  /** The ids of those that were called in a step or a call. */
  inside(place: string): (string | undefined)[] {
    return [...this.#known.values()].filter(each => each.place === place).map(({ id }) => id)
  }

  /** Ends some, or all: with an error, or since they wait for answers. */
  finish(ids?: readonly (string | undefined)[], error?: string, isWaiting = false): void {
    for (const subagent of [...this.#known.values()].reverse()) {
      const { id: subagentRunId, isAtWork } = subagent
      if (!isAtWork || ids?.includes(subagentRunId) === false) continue
      subagent.isAtWork = false
      if (error !== undefined) this.#tell({ type: 'SUBAGENT_ERROR', subagentRunId, message: error })
      else {
        const type = isWaiting ? 'suspended' : 'success'
        this.#tell({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type } })
      }
    }
  }
}
