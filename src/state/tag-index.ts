import type { Document, Tags } from './store.ts'
import { Timeline } from './timeline.ts'

/** The documents of a partition in the order of time: all of them, and those of each tag. */
export class TagIndex {
  readonly all: Timeline = new Timeline()
  /** By the tag's name, then by its value. */
  readonly #tags = new Map<string, Map<string, Timeline>>()

  put(document: Document): void {
    this.all.put(document)
    for (const tag in document.tags) this.#open(tag, document.tags[tag]!).put(document)
  }

  /** Takes away a document that was put; it has the same tags. */
  delete(document: Document): void {
    this.all.delete(document)
    for (const tag in document.tags) {
      const value = document.tags[tag]!
      const values = this.#tags.get(tag)
      const timeline = values?.get(value)
      timeline?.delete(document)
      if (timeline?.size === 0) values?.delete(value)
      if (values?.size === 0) this.#tags.delete(tag)
    }
  }

  /** The fewest documents among which all are that have these tags; undefined where none has. */
  smallest(tags: Tags): Timeline | undefined {
    let smallest = this.all
    for (const tag in tags) {
      const timeline = this.#tags.get(tag)?.get(tags[tag]!)
      if (timeline === undefined) return undefined
      if (timeline.size < smallest.size) smallest = timeline
    }
    return smallest
  }

  #open(tag: string, value: string): Timeline {
    let values = this.#tags.get(tag)
    if (values === undefined) {
      values = new Map()
      this.#tags.set(tag, values)
    }
    let timeline = values.get(value)
    if (timeline === undefined) {
      timeline = new Timeline()
      values.set(value, timeline)
    }
    return timeline
  }
}
