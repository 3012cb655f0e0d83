import type { KeptDefinition, ToolServerStore } from '../../agents/tool-servers.ts'
import type { Reader, Store } from '../../stores/store.ts'

/** The collection of tool servers. */
export const TOOL_SERVERS = 'toolserver'

const PARTITION = 'all'

/**
 * The collection of a single document, which is written with every definition. So concurrent writes conflict, and no name is used
 * twice even if lists lag behind.
 */
const TURNS = 'toolserver-turn'

/** A limit above the number that any manager allows. */
const ALL = 1_000_000

/** Stores definitions of tool servers. */
export function toolServersIn(store: Store): ToolServerStore {
  // Lists come newest first.
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
