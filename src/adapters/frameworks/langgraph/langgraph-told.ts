/**
 * Tells of checkpoints as they are stored, between the items of a graph.
 *
 * @module
 */

import type { RunEvent } from '../../../agents/contract.ts'
import { callMethod, fieldsOf } from '../fields.ts'
import { placeIn } from './langgraph-saver.ts'

/** The checkpoints that were stored since they were last told. */
export class StoredCheckpoints {
  #events: RunEvent[] = []
  #wake: (() => void) | undefined

  /** A checkpointer that does as this one, and is listened to. */
  of(saver: object): object {
    const put = async (...args: unknown[]) => {
      const config = await callMethod(saver, 'put', ...args)
      const { namespace, id } = placeIn(config)
      if (id !== undefined) this.#add({ type: 'checkpoint', id, ...(namespace !== '' && { namespace }) })
      return config
    }
    return new Proxy(saver, {
      get(target, name) {
        if (name === 'put') return put
        const member = fieldsOf(target)[name as string]
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }

  #add(event: RunEvent): void {
    this.#events.push(event)
    this.#wake?.()
  }

  take(): readonly RunEvent[] {
    return this.#events.splice(0)
  }

  /** Resolves once there is a checkpoint to tell. */
  next(): Promise<void> {
    return this.#events.length > 0
      ? Promise.resolve()
      : new Promise(resolve => {
          this.#wake = resolve
        })
  }

  /** The events of the items of a graph, and of its checkpoints, as they come. */
  async *among(
    items: AsyncGenerator<unknown>,
    read: (item: unknown) => Iterable<RunEvent>,
  ): AsyncGenerator<RunEvent> {
    try {
      let item = items.next()
      for (;;) {
        const got = await Promise.race([item, this.next()])
        yield* this.take()
        if (got === undefined) continue
        if (got.done) return
        yield* read(got.value)
        item = items.next()
      }
    } finally {
      await items.return(undefined)
    }
  }
}
