/** A store of limited size in its simplest form. It counts everything again after each transaction. */
import { sizeOfEntry, weigh } from '../../../src/stores/size.ts'
import type { Document, Eviction } from '../../../src/stores/store.ts'

/** An operation of a transaction. */
export type Write =
  | readonly ['put', collection: string, document: Document, footing: Eviction]
  | readonly ['delete', collection: string, id: string]
  | readonly ['append', log: string, data: string]
  | readonly ['deleteLog', log: string]

interface Part {
  readonly collection: string
  readonly document: Document
  readonly footing: Eviction
  readonly turn: number
}

interface Contents {
  parts: Part[]
  logs: Record<string, string[]>
}

const nameOf = ({ collection, document, footing: { thing, leaves } }: Part) =>
  thing ?? (leaves && `${collection}/${document.id}`)

/** See the head of this module. */
export class BudgetModel {
  contents: Contents = { parts: [], logs: {} }
  readonly holds: string[] = []
  readonly #max: number
  #turn = 0

  constructor(max: number) {
    this.#max = max
  }

  /** All bytes, counted again. */
  get used(): number {
    const parts = this.contents.parts.map(
      ({ document, footing }) => weigh(document).bytes + (footing.weight ?? 0),
    )
    const entries = Object.values(this.contents.logs).flat().map(sizeOfEntry)
    return [...parts, ...entries].reduce((sum, bytes) => sum + bytes, 0)
  }

  /** Runs a transaction. Returns false if there was no room. */
  transact(writes: readonly Write[], throws: boolean): boolean {
    const before = structuredClone(this.contents)
    const written = new Set<string>()
    for (const write of writes) this.#write(write, written)
    if (!throws && this.#makeRoom(written)) return true
    this.contents = before
    return false
  }

  #write(write: Write, written: Set<string>): void {
    const { contents } = this
    if (write[0] === 'append') {
      contents.logs[write[1]] = [...(contents.logs[write[1]] ?? []), write[2]]
      written.add(write[1])
    } else if (write[0] === 'deleteLog') delete contents.logs[write[1]]
    else {
      const [act, collection] = write
      const id = act === 'put' ? write[2].id : write[2]
      contents.parts = contents.parts.filter(
        part => part.collection !== collection || part.document.id !== id,
      )
      if (act === 'delete') return
      const part = { collection, document: write[2], footing: write[3], turn: ++this.#turn }
      contents.parts.push(part)
      const name = nameOf(part)
      if (name !== undefined) written.add(name)
    }
  }

  #makeRoom(written: Set<string>): boolean {
    while (this.used > this.#max) {
      const { contents } = this
      const part = this.#next(written)
      if (part === undefined) return false
      const isAlone = part.footing.leaves === 'alone'
      const name = nameOf(part) ?? ''
      contents.parts = contents.parts.filter(one => (isAlone ? one !== part : nameOf(one) !== name))
      if (!isAlone) delete contents.logs[name]
    }
    return true
  }

  /** The next part to delete. */
  #next(written: Set<string>): Part | undefined {
    const order = ['alone', 'first', 'last']
    const rank = ({ footing: { leaves } }: Part) => order.indexOf(leaves ?? '')
    const isFree = (part: Part) => {
      const name = nameOf(part) ?? ''
      return rank(part) === 0 || !(written.has(name) || this.holds.includes(name))
    }
    const may = this.contents.parts.filter(part => rank(part) >= 0 && isFree(part))
    return may.toSorted((a, b) => rank(a) - rank(b) || a.turn - b.turn)[0]
  }
}
