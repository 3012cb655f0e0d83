import type { RunEvent } from '../agents/contract.ts'
import { Names } from '../agents/work/path.ts'

/** Steps that are given ids; what comes after them has none. */
const MAX_STEPS = 1000

type StepTold = Extract<RunEvent, { type: 'step' }>

/** Gives ids to the steps of a run whose servable tells them by their names alone. */
export class StepIds {
  readonly #names = new Map<string, Names>()
  /** Ids of steps under way. */
  readonly #open = new Map<string, string>()
  #count = 0

  /** The event with its step's id. */
  see(event: StepTold): StepTold {
    if (typeof event.id === 'string') return event
    const parent = typeof event.parentId === 'string' ? event.parentId : ''
    const place = JSON.stringify([parent, event.name])
    const open = event.status === 'started' ? undefined : this.#open.get(place)
    const id = open ?? this.#next(parent, event.name)
    if (event.status === 'completed' || event.status === 'failed') this.#open.delete(place)
    else if (id !== undefined) this.#open.set(place, id)
    return id === undefined ? event : { ...event, id }
  }

  #next(parent: string, name: string): string | undefined {
    if (++this.#count > MAX_STEPS) return undefined
    const names = this.#names.get(parent) ?? new Names(parent === '' ? '' : `${parent}/`)
    this.#names.set(parent, names)
    return names.next(name)
  }
}
