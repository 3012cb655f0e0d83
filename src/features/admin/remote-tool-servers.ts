/**
 * Calls the tool servers from an isolate. One object stores and connects them for all isolates.
 *
 * @module
 */

import type { ServerQuery, ServerReads } from '../../agents/server-reads.ts'
import type { CallRound, ServerCallOptions, ToolServers } from '../../agents/tool-servers.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import type { HostedState } from '../../core/hosted.ts'
import { remote, type ServiceCalls } from '../../core/object-service.ts'
import { TOOL_SERVER_SERVICE, type ToolServerMethods } from './object.ts'

/** Makes the tool servers that call the object. */
export function connectToolServers({ reach }: Pick<HostedState, 'reach'>): ToolServers {
  const object = remote<ToolServerMethods>(reach('index', 'toolservers', TOOL_SERVER_SERVICE))
  return {
    list: () => reached(object.list()),
    get: id => reached(object.get(id)),
    add: definition => reached(object.add(definition)),
    remove: id => reached(object.remove(id)),
    connect: id => reached(object.connect(id)),
    disconnect: id => reached(object.disconnect(id)),
    signIn: (id, place) => reached(object.signIn(id, place)),
    endSignIn: answer => reached(object.endSignIn(answer)),
    tools: id => reached(object.tools(id)),
    needsApproval: name => reached(object.needsApproval(name)),
    call: (name, args, options = {}) =>
      cancellable(object, options, id => object.call(id, name, args, options.traceparent)),
    round: (name, args, answers, options = {}) =>
      cancellable(object, options, id =>
        object.round(id, name, args, answers, options.traceparent),
      ) as Promise<CallRound>,
    read: <Query extends ServerQuery>(server: string, query: Query, options: ServerCallOptions = {}) =>
      cancellable(object, options, id => object.read(id, server, query, options.traceparent)) as Promise<
        ServerReads[Query['kind']]
      >,
  }
}

/** Does work in the object. A signal cannot be sent to an object, so a second message cancels the work. */
async function cancellable(
  object: ServiceCalls<ToolServerMethods>,
  { signal }: ServerCallOptions,
  work: (callId: string) => Promise<unknown>,
): Promise<unknown> {
  if (signal?.aborted) throw cancelled()
  const callId = crypto.randomUUID()
  const cancel = () => void object.cancel(callId).then(undefined, () => {})
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await reached(work(callId))
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}

/**
 * Awaits an answer of the object. Throws `tool_server_failed` if the object is gone or the answer is too large to be sent.
 */
async function reached<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (cause) {
    if (isServableError(cause)) throw cause
    throw new ServableError(
      'tool_server_failed',
      'The Durable Object of the tool servers could not be reached',
      {
        cause,
      },
    )
  }
}

function cancelled(): ServableError {
  return new ServableError('tool_server_failed', 'The call was cancelled')
}
