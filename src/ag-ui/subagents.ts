/**
 * Members of a team and agents of a workflow as subagents of AG-UI 1.0: each time that one is called is one of them.
 *
 * @module
 */

import type { EventFacts } from '../agents/contract.ts'
import { idIn } from './answers.ts'

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
  readonly isCall?: true
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
  readonly #max: number
  readonly #known = new Map<string, Subagent>()
  #ids = 0

  constructor(run: Named, tell: (event: object) => void, max: number) {
    this.#run = run
    this.#tell = tell
    this.#max = max
  }

  /** The mark of what is said. `placeOf` tells of open steps and calls. */
  at({ agent, parentId }: EventFacts, placeOf: (id: string) => Place | undefined, depth = 0): Tag {
    if (agent === undefined || depth > MAX_DEPTH) return {}
    const find = (id: string | undefined) => (id === undefined ? undefined : placeOf(id))
    let place = parentId
    let around = find(place)
    // Steps and calls of its own are inside of it.
    for (let inner = 0; around?.agent === agent && inner < MAX_DEPTH; inner++) {
      place = around.parentId
      around = find(place)
    }
    const key = `${agent}\n${place ?? ''}`
    const known = this.#known.get(key)
    // What members say at once is told one after the other: some of it comes when its step has ended.
    const isLate = place !== undefined && around === undefined
    if (known?.isAtWork || (known && isLate)) return { subagentRunId: known.id }
    const parent = around && this.at(around, placeOf, depth + 1).subagentRunId
    const subagentRunId = idIn(this.#run.runId, `agent-${++this.#ids}`)
    this.#known.delete(key)
    this.#known.set(key, { id: subagentRunId, place, isAtWork: true })
    this.#tell({
      type: 'SUBAGENT_STARTED',
      subagentRunId,
      name: agent,
      parentSubagentRunId: parent,
      parentToolCallId: around?.isCall && place,
    })
    const [oldest] = this.#known
    if (this.#known.size > this.#max && oldest) {
      this.finish([oldest[1].id])
      this.#known.delete(oldest[0])
    }
    return { subagentRunId }
  }

  /** The ids of those that were called in a step or a call. */
  inside(place: string): string[] {
    return [...this.#known.values()].filter(each => each.place === place).map(({ id }) => id)
  }

  /** Ends some, or all: with an error, or since they wait for answers. */
  finish(ids?: readonly string[], error?: string, isWaiting = false): void {
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
