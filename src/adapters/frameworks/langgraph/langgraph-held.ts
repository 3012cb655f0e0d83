/**
 * A checkpointer for runs of which nothing is stored unless they wait: it holds the checkpoints with which a graph ends.
 *
 * @module
 */

import { fieldsOf, type UnknownFields } from '../fields.ts'
import { configOf, nextVersion, placeIn, type Saver } from './langgraph-saver.ts'

/** A checkpoint, with its writes. Those may come first. */
interface HeldCheckpoint {
  readonly namespace: string
  readonly thread: unknown
  given?: {
    readonly parent: string | undefined
    readonly checkpoint: UnknownFields
    readonly metadata: unknown
  }
  readonly writes: [writes: unknown, task: string, path: string | undefined][]
}

/** Use it with `durability: 'exit'`: each graph then writes its last checkpoint alone. */
export class HeldSaver {
  /** By ids, which are unique in a run. */
  readonly #held = new Map<string, HeldCheckpoint>()

  toJSON(): string {
    return '[Saver]'
  }

  getNextVersion(current: unknown): number {
    return nextVersion(current)
  }

  async getTuple(config: unknown): Promise<object | undefined> {
    const { thread, namespace, id } = placeIn(config)
    const [found, held] =
      [...this.#held].findLast(
        ([each, { given, namespace: space }]) => given && space === namespace && (id ?? each) === each,
      ) ?? []
    const { checkpoint, metadata, parent } = held?.given ?? {}
    if (found === undefined || checkpoint === undefined) return undefined
    return {
      ...{ config: configOf(thread, namespace, found), checkpoint, metadata, pendingWrites: [] },
      ...(parent !== undefined && { parentConfig: configOf(thread, namespace, parent) }),
    }
  }

  async *list(): AsyncGenerator<never> {}

  async put(config: unknown, checkpoint: unknown, metadata: unknown): Promise<object> {
    const { thread, namespace, id: parent } = placeIn(config)
    const fields = fieldsOf(checkpoint)
    const id = String(fields.id)
    this.#at(thread, namespace, id).given = { parent, checkpoint: fields, metadata }
    return configOf(thread, namespace, id)
  }

  async putWrites(config: unknown, writes: unknown, task: string, path?: string): Promise<void> {
    const { thread, namespace, id = '' } = placeIn(config)
    this.#at(thread, namespace, id).writes.push([writes, task, path])
  }

  async getDeltaChannelHistory({ channels }: { readonly channels: readonly string[] }): Promise<object> {
    return Object.fromEntries(channels.map(channel => [channel, { writes: [] }]))
  }

  /** Stores what is held. */
  async keep(saver: Saver): Promise<void> {
    for (const [id, { namespace, thread, given, writes }] of this.#held) {
      const config = configOf(thread, namespace, id)
      if (given !== undefined)
        await saver.put(configOf(thread, namespace, given.parent), given.checkpoint, given.metadata)
      for (const [each, task, path] of writes) await saver.putWrites(config, each, task, path)
    }
  }

  #at(thread: unknown, namespace: string, id: string): HeldCheckpoint {
    const held = this.#held.get(id) ?? { namespace, thread, writes: [] }
    this.#held.set(id, held)
    return held
  }
}
