/** `@modelcontextprotocol/ext-tasks`, beside `@modelcontextprotocol/client`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createApplicationInputHandler,
  createTaskSessionFromClient,
  type RawClientDispatch,
  type SerializedTaskReference,
  type ToolExecution,
} from '@modelcontextprotocol/ext-tasks/client'
import { info, modern } from './client-2.ts'
import type { Ended, OnStatus, Place, Result, Tasks } from './way.ts'

type Execution = ToolExecution<unknown>

/** Connects. */
export async function tasksAt({ url, token, say }: Place): Promise<Tasks> {
  const clientCapabilities = say ? { elicitation: { form: {} } } : {}
  const client = new Client(info, { ...modern, capabilities: clientCapabilities })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  const none = () => {
    throw new Error('nobody asks for it')
  }
  const session = createTaskSessionFromClient(client, {
    endpointId: 'the service of the test',
    rawDispatch: dispatching(url, headers),
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo: info, clientCapabilities },
    ...(say && {
      onInputRequest: createApplicationInputHandler({
        elicitation: ({ params }) => say({ message: String(params.message), ...params }),
        sampling: none,
        roots: none,
      }),
    }),
  })
  return {
    call: async (name, args, onStatus) => ended(await session.callTool(name, json(args)), onStatus),
    async cancelled(name, args, isStarted) {
      const execution: Execution = await session.callTool(name, json(args))
      const end = ended(execution)
      await isStarted()
      await execution.cancel()
      return end
    },
    async leave(name, args) {
      const execution: Execution = await session.callTool(name, json(args))
      if (execution.kind !== 'task') throw new Error('it is no task')
      let reference: object = {}
      await execution.handoff(kept => {
        reference = kept
      })
      return reference
    },
    goOn: async reference => ended(await session.resumeTask(reference as SerializedTaskReference)),
    async close() {
      await session.close()
      await client.close()
    },
  }
}

const json = (args: Record<string, unknown>) => args as Record<string, string>

async function ended(execution: Execution, onStatus: OnStatus = () => {}): Promise<Ended> {
  const { kind } = execution
  const { outcome } = await execution.settle({
    onEvent: event => void (event.type === 'task' && onStatus(event.task.status)),
  })
  const { status } = outcome
  if (status === 'completed') return { kind, status, result: outcome.result as Result }
  return { kind, status, ...(status === 'failed' && { error: outcome.error.message }) }
}

/** Sends what the client itself cannot send, as its makers have it: the host does. */
function dispatching(url: string, own: Readonly<Record<string, string>>): RawClientDispatch {
  let id = 0
  return async (request, { signal } = {}) => {
    const { method, params } = request as { method: string; params: Readonly<Record<string, string>> }
    const headers = {
      ...own,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': params.name ?? params.taskId ?? '',
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: `raw-${++id}`, method, params })
    const answer = await fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) })
    const text = await answer.text()
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
    const last = isStream
      ? text
          .trim()
          .split('\n')
          .findLast(line => line.startsWith('data: '))
          ?.slice(6)
      : text
    const { result, error } = JSON.parse(last ?? '')
    return error ? { kind: 'error', error } : { kind: 'result', result }
  }
}
