import type { KeptDefinition, ToolServerStore } from '../agents/tool-servers.ts'
import type { Store } from '../state/store.ts'

/** The collection of tool servers. */
export const TOOL_SERVERS = 'toolserver'

const PARTITION = 'all'

/** More than any manager allows. */
const ALL = 1_000_000

/** Keeps definitions of tool servers in a store. */
export function toolServersIn(store: Store): ToolServerStore {
  const all = () =>
    store.transact(tx => tx.list<KeptDefinition>(TOOL_SERVERS, { partition: PARTITION, limit: ALL }))
  return {
    isShared: store.isShared,
    all: () =>
      all()
        .map(({ value }) => value)
        .reverse(),
    put(definition, check) {
      const { id, name, createdAt: at } = definition
      store.transact(tx => {
        if (check !== undefined) {
          const others = tx.list<KeptDefinition>(TOOL_SERVERS, { partition: PARTITION, limit: ALL })
          check(others.map(({ value }) => value))
        }
        tx.put(TOOL_SERVERS, { id, partition: PARTITION, at, tags: { name }, value: definition })
      })
    },
    remove: id => store.transact(tx => tx.delete(TOOL_SERVERS, id)),
  }
}
