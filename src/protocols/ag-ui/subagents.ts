/**
 * Members of a team and agents of a workflow as subagents of AG-UI 1.0. Each call of one is a subagent of its own.
 *
 * @module
 */

import type { EventFacts } from '../../core-entry.ts'
import { idIn } from './answers.ts'

/** The ids of a run: our own, and those that the client gave the run and the conversation. */
export interface RunNames {
  readonly runId: string
  readonly client: { readonly threadId: string; readonly runId: string }
}

/** The mark on the events of a subagent. Empty for the run itself. */
export interface Tag {
  readonly subagentRunId?: string
}

/** The agent and parent of an open step or call. */
export interface EnclosingEvent extends EventFacts {
  readonly isCall?: boolean
}

/** Most nested steps and calls that are followed upwards. */
const MAX_DEPTH = 20

/** A called member. `parentId` is the step or the call in which it was called. */
interface Subagent {
  readonly id: string
  readonly parentId: string | undefined
  /** The event that started it. */
  readonly begun: object
  isAtWork: boolean
}

/** The subagents of one run. Sends their starts and ends. */
export class Subagents {
  readonly #run: RunNames
  readonly #send: (event: object) => void
  readonly #known = new Map<string, Subagent>()
  #ids = 0

  constructor(run: RunNames, send: (event: object) => void) {
    this.#run = run
    this.#send = send
  }

  /**
   * Returns the mark for an event, and starts its subagent if it is new. `enclosingOf` returns an open step or call by its id.
   */
  at(
    { agent, parentId }: EventFacts,
    enclosingOf: (id: string) => EnclosingEvent | undefined,
    depth = 0,
  ): Tag {
    if (agent === undefined || depth > MAX_DEPTH) return {}
    const enclosing = parentId === undefined ? undefined : enclosingOf(parentId)
    const outer = enclosing ? this.at(enclosing, enclosingOf, depth + 1) : {}
    // The step or the call is the agent's own.
    if (enclosing?.agent === agent) return outer
    const key = `${agent}\n${parentId}`
    const known = this.#known.get(key)
    // Events of members that run in parallel are sent one after the other. Some of them come after their step has ended.
    if (known && (known.isAtWork || (parentId && !enclosing))) return { subagentRunId: known.id }
    const subagentRunId = idIn(this.#run.runId, `agent-${++this.#ids}`)
    this.#known.delete(key)
    const begun = {
      type: 'SUBAGENT_STARTED',
      subagentRunId,
      name: agent,
      parentSubagentRunId: outer.subagentRunId,
      parentToolCallId: enclosing?.isCall && parentId,
    }
    this.#known.set(key, { id: subagentRunId, parentId, begun, isAtWork: true })
    this.#send(begun)
    trim(this.#known, oldest => this.finish([oldest.id]))
    return { subagentRunId }
  }

  /** The ids of the subagents that were called in a step or a call. */
  inside(parentId: string): (string | undefined)[] {
    return [...this.#known.values()].filter(each => each.parentId === parentId).map(({ id }) => id)
  }

  /** Sends the starts of those at work again, for a client that comes later. */
  reopen(): void {
    for (const { isAtWork, begun } of this.#known.values()) if (isAtWork) this.#send(begun)
  }

  /** Ends the subagents with these ids, or all: with an error, as waiting for answers, or with success. */
  finish(ids?: readonly (string | undefined)[], error?: string, isWaiting = false): void {
    for (const subagent of [...this.#known.values()].reverse()) {
      const { id: subagentRunId, isAtWork } = subagent
      if (!isAtWork || ids?.includes(subagentRunId) === false) continue
      subagent.isAtWork = false
      if (error !== undefined) this.#send({ type: 'SUBAGENT_ERROR', subagentRunId, message: error })
      else {
        const type = isWaiting ? 'suspended' : 'success'
        this.#send({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type } })
      }
    }
  }
}

/** Most open calls, steps, sources and subagents, of each. */
const MAX_OPEN = 1000

/** Closes and removes the oldest entry if there are more than 1,000. */
export function trim<T>(open: Map<string, T>, close: (oldest: T, key: string) => void): void {
  const [oldest] = open
  if (open.size <= MAX_OPEN || oldest === undefined) return
  close(oldest[1], oldest[0])
  open.delete(oldest[0])
}
