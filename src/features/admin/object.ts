/**
 * The object that stores and connects the tool servers for all isolates.
 *
 * @module
 */

import type { ServerQuery } from '../../agents/server-reads.ts'
import type {
  KeptDefinition,
  ServerTool,
  ToolAnswers,
  ToolServerStore,
  ToolServers,
} from '../../agents/tool-servers.ts'
import type { ObjectService } from '../../core/hosted.ts'
import { callIn } from '../../core/object-service.ts'
import type { Reader, Store, Transaction } from '../../stores/store.ts'

/** The name of the plugin and of its object service. */
export const TOOL_SERVER_SERVICE = 'admin'

/** The methods of the object. Each call has an id, so that it can be cancelled. */
export interface ToolServerMethods
  extends Pick<
    ToolServers,
    'list' | 'get' | 'add' | 'remove' | 'connect' | 'disconnect' | 'signIn' | 'endSignIn'
  > {
  tools(id: string | undefined): Promise<readonly ServerTool[]>
  needsApproval(name: string): Promise<boolean>
  call(callId: string, name: string, args: unknown, traceparent?: string): Promise<unknown>
  round(
    callId: string,
    name: string,
    args: unknown,
    answers: ToolAnswers | undefined,
    traceparent?: string,
  ): Promise<unknown>
  read(callId: string, server: string, query: ServerQuery, traceparent?: string): Promise<unknown>
  cancel(callId: string): void
}

/** Creates the service. It runs the tool servers in the object. Their connections last as long as the object is in memory. */
export function createToolServerObject(open: () => ToolServers): ObjectService {
  let opened: ToolServers | undefined
  const calls = new Map<string, AbortController>()
  const servers = () => {
    opened ??= open()
    return opened
  }
  const cancellable = async (callId: string, work: (signal: AbortSignal) => Promise<unknown>) => {
    const controller = new AbortController()
    calls.set(callId, controller)
    try {
      return await work(controller.signal)
    } finally {
      calls.delete(callId)
    }
  }
  const methods: ToolServerMethods = {
    list: () => servers().list(),
    get: id => servers().get(id),
    add: definition => servers().add(definition),
    remove: id => servers().remove(id),
    connect: id => servers().connect(id),
    disconnect: id => servers().disconnect(id),
    signIn: (id, place) => servers().signIn(id, place),
    endSignIn: answer => servers().endSignIn(answer),
    tools: id => servers().tools(id),
    needsApproval: name => servers().needsApproval(name),
    call: (callId, name, args, traceparent) =>
      cancellable(callId, signal => servers().call(name, args, { signal, traceparent })),
    round: (callId, name, args, answers, traceparent) =>
      cancellable(callId, signal => servers().round(name, args, answers, { signal, traceparent })),
    read: (callId, server, query, traceparent) =>
      cancellable(callId, signal => servers().read(server, query, { signal, traceparent })),
    cancel: callId => calls.get(callId)?.abort(),
  }
  return { ask: (method, args) => callIn(methods, method, args) }
}

/** The collection of tool servers. */
const TOOL_SERVERS = 'toolserver'

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
  const keep = (tx: Transaction, definition: KeptDefinition) => {
    const { id, name, createdAt: at } = definition
    tx.put(TOOL_SERVERS, { id, partition: PARTITION, at, tags: { name }, value: definition })
  }
  return {
    isShared: store.isShared,
    all: () => store.read(allIn),
    put(definition, check) {
      const { createdAt: at } = definition
      return store.write(tx => {
        const turn = tx.get<number>(TURNS, PARTITION)?.value ?? 0
        check?.(allIn(tx))
        tx.put(TURNS, { id: PARTITION, partition: PARTITION, at, tags: {}, value: turn + 1 })
        keep(tx, definition)
      })
    },
    change: (id, change) =>
      store.write(tx => {
        const kept = tx.get<KeptDefinition>(TOOL_SERVERS, id)?.value
        const changed = kept && change(kept)
        if (changed !== undefined) keep(tx, changed)
        return changed ?? kept
      }),
    remove: id => store.write(tx => tx.delete(TOOL_SERVERS, id)),
  }
}
