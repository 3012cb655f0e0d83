/**
 * The object that stores and connects the tool servers for all isolates.
 *
 * @module
 */

import type { ServerTool, ToolServers } from '../../agents/tool-servers.ts'
import type { ObjectService } from '../../core/hosted.ts'
import { callIn } from '../../core/object-service.ts'

/** The name of the plugin and of its object service. */
export const TOOL_SERVER_SERVICE = 'admin'

/** The methods of the object. Each call has an id, so that it can be cancelled. */
export interface ToolServerMethods
  extends Pick<ToolServers, 'list' | 'get' | 'add' | 'remove' | 'connect' | 'disconnect'> {
  tools(id: string | undefined): Promise<readonly ServerTool[]>
  needsApproval(name: string): Promise<boolean>
  call(callId: string, name: string, args: unknown, traceparent?: string): Promise<unknown>
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
  const methods: ToolServerMethods = {
    list: () => servers().list(),
    get: id => servers().get(id),
    add: definition => servers().add(definition),
    remove: id => servers().remove(id),
    connect: id => servers().connect(id),
    disconnect: id => servers().disconnect(id),
    tools: id => servers().tools(id),
    needsApproval: name => servers().needsApproval(name),
    async call(callId, name, args, traceparent) {
      const controller = new AbortController()
      calls.set(callId, controller)
      try {
        return await servers().call(name, args, { signal: controller.signal, traceparent })
      } finally {
        calls.delete(callId)
      }
    },
    cancel: callId => calls.get(callId)?.abort(),
  }
  return { ask: (method, args) => callIn(methods, method, args) }
}
