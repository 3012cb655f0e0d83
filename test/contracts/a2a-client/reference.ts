/** The reference SDK's express server, with an executor that does what it is asked. */
import { createServer } from 'node:http'
import { type AgentCard, type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { listening } from '../../listening.ts'
import { DATA, doingOf, FILE, waits } from './doings.ts'
import { held } from './holds.ts'

const part = (content: Part['content'], mediaType = ''): Part => ({
  ...{ content, mediaType },
  ...{ metadata: undefined, filename: '' },
})
const text = (value: string): Part => part({ $case: 'text', value })

function messageOf(value: string, { taskId, contextId }: Partial<RequestContext> = {}): Message {
  return {
    ...{ messageId: crypto.randomUUID(), role: Role.ROLE_AGENT, parts: [text(value)] },
    ...{ taskId: taskId ?? '', contextId: contextId ?? '' },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  }
}

/** Tasks that have asked. */
const asked = new Set<string>()

async function execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
  const { taskId, contextId, userMessage, task } = context
  const content = userMessage.parts[0]?.content
  const { what, rest } = doingOf(content?.$case === 'text' ? content.value : '')
  const ids = { taskId, contextId, metadata: undefined }
  const statusNow = (state: TaskState, message?: Message) => ({
    ...{ state, message },
    timestamp: new Date().toISOString(),
  })
  const status = (state: TaskState, said?: string) =>
    bus.publish(
      AgentEvent.statusUpdate({
        ...ids,
        status: statusNow(state, said === undefined ? undefined : messageOf(said, context)),
      }),
    )
  const artifact = (artifactId: string, parts: Part[], append = false) =>
    bus.publish(
      AgentEvent.artifactUpdate({
        ...ids,
        ...{ append, lastChunk: false },
        artifact: { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] },
      }),
    )
  const end = (state: TaskState, said?: string) => {
    status(state, said)
    bus.finished()
  }
  if (what === 'message') {
    bus.publish(AgentEvent.message(messageOf(rest, { contextId })))
    return bus.finished()
  }
  const begun: Task = {
    ...{ id: taskId, contextId, status: statusNow(TaskState.TASK_STATE_WORKING) },
    ...{ artifacts: [], history: [userMessage], metadata: undefined },
  }
  bus.publish(AgentEvent.task(task === undefined ? begun : { ...task, status: begun.status }))
  if (asked.has(taskId)) {
    artifact('answer', [text(`so ${content?.$case === 'text' ? content.value : ''}`)])
    return end(TaskState.TASK_STATE_COMPLETED)
  }
  switch (what) {
    case 'words':
      for (const [index, word] of rest.split(' ').entries()) {
        artifact('answer', [text(`${word} `)], index > 0)
        await new Promise(resolve => setTimeout(resolve, 2))
      }
      return end(TaskState.TASK_STATE_COMPLETED)
    case 'makes':
      artifact('picture', [part({ $case: 'raw', value: Buffer.from(FILE.data, 'base64') }, FILE.mimeType)])
      artifact('facts', [part({ $case: 'data', value: DATA })])
      return end(TaskState.TASK_STATE_COMPLETED)
    case 'steps':
      status(TaskState.TASK_STATE_WORKING, 'searching')
      artifact('answer', [text('found')])
      return end(TaskState.TASK_STATE_COMPLETED)
    case 'says':
      return end(TaskState.TASK_STATE_COMPLETED, rest)
    case 'asks':
      asked.add(taskId)
      return end(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which one?')
    case 'fails':
      return end(TaskState.TASK_STATE_FAILED, rest)
    case 'rejects':
      return end(TaskState.TASK_STATE_REJECTED, rest)
    case 'auth':
      return end(TaskState.TASK_STATE_AUTH_REQUIRED, rest)
    case 'tells':
      artifact('answer', [text(JSON.stringify({ contextId, metadata: userMessage.metadata }))])
      return end(TaskState.TASK_STATE_COMPLETED)
    case 'holds':
      artifact('answer', [text('before ')])
      await held(rest)
      artifact('answer', [text('after')], true)
      return end(TaskState.TASK_STATE_COMPLETED)
    case 'waits':
      waits.set(rest, false)
      artifact('answer', [text('waiting')])
      await new Promise<void>(resolve => waiting.set(taskId, resolve))
      waits.set(rest, true)
      return end(TaskState.TASK_STATE_CANCELED)
  }
}

const waiting = new Map<string, () => void>()

const executor: AgentExecutor = {
  execute,
  cancelTask: async taskId => waiting.get(taskId)?.(),
}

const card: AgentCard = {
  ...{ name: 'does', description: '', version: '1.0.0', provider: undefined },
  supportedInterfaces: ['1.0', '0.3'].flatMap(protocolVersion =>
    ['JSONRPC', 'HTTP+JSON'].map(protocolBinding => ({
      ...{ url: 'http://127.0.0.1/', protocolBinding, protocolVersion, tenant: '' },
    })),
  ),
  ...{ capabilities: { streaming: true, extensions: [] }, securitySchemes: {}, securityRequirements: [] },
  ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [], signatures: [] },
}

/** Starts the server: JSON-RPC at its root, HTTP+JSON below `/rest`. */
export async function startReference() {
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  const common = {
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }
  const app = express()
  app.use('/rest', restHandler(common))
  app.use('/', jsonRpcHandler(common))
  return listening(createServer(app))
}
