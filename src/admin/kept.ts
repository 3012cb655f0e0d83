import type { KeptDefinition, ToolServerStore } from '../agents/tool-servers.ts'
import type { Reader, Store } from '../state/store.ts'

/** The collection of tool servers. */
export const TOOL_SERVERS = 'toolserver'

const PARTITION = 'all'

/** The collection of one document, which is written with each definition: names are compared by a list, and lists may lag. */
const TURNS = 'toolserver-turn'

/** More than any manager allows. */
const ALL = 1_000_000

/** Keeps definitions of tool servers in a store. */
export function toolServersIn(store: Store): ToolServerStore {
  // A list begins with the newest.
  const allIn = (tx: Reader) =>
    tx
      .list<KeptDefinition>(TOOL_SERVERS, { partition: PARTITION, limit: ALL })
      .map(({ value }) => value)
      .reverse()
  return {
    isShared: store.isShared,
    all: () => store.read(allIn),
    put(definition, check) {
      const { id, name, createdAt: at } = definition
      return store.write(tx => {
        const turn = tx.get<number>(TURNS, PARTITION)?.value ?? 0
        check?.(allIn(tx))
        tx.put(TURNS, { id: PARTITION, partition: PARTITION, at, tags: {}, value: turn + 1 })
        tx.put(TOOL_SERVERS, { id, partition: PARTITION, at, tags: { name }, value: definition })
      })
    },
    remove: id => store.write(tx => tx.delete(TOOL_SERVERS, id)),
  }
}
