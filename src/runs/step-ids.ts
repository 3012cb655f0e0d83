import type { RunEvent } from '../agents/contract.ts'
import { Names } from '../agents/work/path.ts'

/** The most steps that get ids. Later ones have none. */
const MAX_STEPS = 1000

type StepRunEvent = Extract<RunEvent, { type: 'step' }>

/** Gives ids to the steps of a run whose servable sends only their names. */
export class StepIds {
  readonly #names = new Map<string, Names>()
  /** Ids of running steps, by parent and name. */
  readonly #open = new Map<string, string>()
  #count = 0

  /** Returns the event with its step's id. */
  see(event: StepRunEvent): StepRunEvent {
    if (typeof event.id === 'string') return event
    const parent = typeof event.parentId === 'string' ? event.parentId : ''
    const key = JSON.stringify([parent, event.name])
    const open = event.status === 'started' ? undefined : this.#open.get(key)
    const id = open ?? this.#next(parent, event.name)
    if (event.status === 'completed' || event.status === 'failed') this.#open.delete(key)
    else if (id !== undefined) this.#open.set(key, id)
    return id === undefined ? event : { ...event, id }
  }

  #next(parent: string, name: string): string | undefined {
    if (++this.#count > MAX_STEPS) return undefined
    const names = this.#names.get(parent) ?? new Names(parent === '' ? '' : `${parent}/`)
    this.#names.set(parent, names)
    return names.next(name)
  }
}
