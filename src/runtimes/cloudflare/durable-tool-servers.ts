/**
 * The tool servers of a Worker: one object keeps and connects them for all isolates.
 *
 * @module
 */

import type { ServerCallOptions, ServerTool, ToolServer, ToolServers } from '../../agents/tool-servers.ts'
import { isServableError, ServableError } from '../../errors.ts'
import { findBindings, type IndexStub } from './bindings.ts'
import { type Answer, unwrap } from './rpc.ts'

/** What the object is asked to do; a call is named, so that it can be cancelled. */
export type ToolServerRequest =
  | { readonly method: 'list' }
  | { readonly method: 'get' | 'remove' | 'connect' | 'disconnect'; readonly id: string }
  | { readonly method: 'tools'; readonly id: string | undefined }
  | { readonly method: 'add'; readonly definition: unknown }
  | { readonly method: 'call'; readonly callId: string; readonly name: string; readonly args: unknown }

/** The tool servers, as an isolate reaches them. */
export function connectDurableToolServers(): ToolServers {
  const object = (): IndexStub => findBindings().index.getByName('toolservers')
  // The object answers as the method of the same name does.
  const ask = async <T>(request: ToolServerRequest) => (await reach(object().toolServers(request))) as T
  return {
    list: () => ask<ToolServer[]>({ method: 'list' }),
    get: id => ask<ToolServer>({ method: 'get', id }),
    add: definition => ask<ToolServer>({ method: 'add', definition }),
    remove: id => ask<ToolServer>({ method: 'remove', id }),
    connect: id => ask<ToolServer>({ method: 'connect', id }),
    disconnect: id => ask<ToolServer>({ method: 'disconnect', id }),
    tools: id => ask<ServerTool[]>({ method: 'tools', id }),
    call: (name, args, options) => call(object(), name, args, options),
  }
}

/** Calls a tool. A signal does not cross to an object, so its end is told by a second message. */
async function call(
  object: IndexStub,
  name: string,
  args: unknown,
  { signal }: ServerCallOptions = {},
): Promise<unknown> {
  if (signal?.aborted) throw cancelled()
  const callId = crypto.randomUUID()
  const cancel = () => void object.cancelToolCall(callId).then(undefined, () => {})
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await reach(object.toolServers({ method: 'call', callId, name, args }))
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}

/** What the object answers; it may be gone in the middle, or the answer too large for RPC. */
async function reach(asked: Promise<Answer<unknown>>): Promise<unknown> {
  try {
    return await unwrap(asked)
  } catch (cause) {
    if (isServableError(cause)) throw cause
    throw new ServableError('tool_server_failed', 'The object of the tool servers could not be reached', {
      cause,
    })
  }
}

function cancelled(): ServableError {
  return new ServableError('tool_server_failed', 'The call was cancelled')
}

/** Does in an object what an isolate asks for. */
export class ToolServerKeeper {
  readonly #servers: ToolServers
  readonly #calls = new Map<string, AbortController>()

  constructor(servers: ToolServers) {
    this.#servers = servers
  }

  async answer(request: ToolServerRequest): Promise<unknown> {
    switch (request.method) {
      case 'list':
        return this.#servers.list()
      case 'tools':
        return this.#servers.tools(request.id)
      case 'add':
        return this.#servers.add(request.definition as Parameters<ToolServers['add']>[0])
      case 'call':
        return this.#call(request.callId, request.name, request.args)
      default:
        return this.#servers[request.method](request.id)
    }
  }

  cancel(callId: string): void {
    this.#calls.get(callId)?.abort()
  }

  async #call(callId: string, name: string, args: unknown): Promise<unknown> {
    const controller = new AbortController()
    this.#calls.set(callId, controller)
    try {
      return await this.#servers.call(name, args, { signal: controller.signal })
    } finally {
      this.#calls.delete(callId)
    }
  }
}
