/** The reference SDK's express server, set up as in its README, with an executor that works like our agent. */

import type { AddressInfo } from 'node:net'
import { type AgentCard, type Artifact, type Part, type Task, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { wordsOf } from './a2a-echo.ts'

const { PORT = 0, PAUSE_MS = 0 } = process.env

const jsonRpc = (protocolVersion: string) => ({
  url: 'http://127.0.0.1/',
  protocolBinding: 'JSONRPC',
  tenant: '',
  protocolVersion,
})

const card: AgentCard = {
  name: 'echo',
  description: 'Says the input back',
  version: '1.0.0',
  supportedInterfaces: [jsonRpc('1.0'), jsonRpc('0.3')],
  provider: undefined,
  capabilities: { streaming: true, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
}

const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})

const chunk = (word: string): Artifact => ({
  artifactId: 'response',
  name: 'response',
  description: '',
  parts: [textPart(word)],
  metadata: undefined,
  extensions: [],
})

const statusNow = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() })

/** The first event must be the task. */
function begun({ taskId, contextId, userMessage }: RequestContext): Task {
  const status = statusNow(TaskState.TASK_STATE_WORKING)
  return { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }
}

async function execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
  const { taskId, contextId, userMessage } = context
  const ids = { taskId, contextId, metadata: undefined }
  bus.publish(AgentEvent.task(begun(context)))
  const content = userMessage.parts[0]?.content
  let append = false
  for await (const word of wordsOf(content?.$case === 'text' ? content.value : '', Number(PAUSE_MS))) {
    bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact: chunk(word), append, lastChunk: false }))
    append = true
  }
  bus.publish(AgentEvent.statusUpdate({ ...ids, status: statusNow(TaskState.TASK_STATE_COMPLETED) }))
  bus.finished()
}

const executor: AgentExecutor = { execute, cancelTask: async () => {} }
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
const app = express()
app.use(
  jsonRpcHandler({
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }),
)
const server = app.listen(Number(PORT), '127.0.0.1', () => {
  // It listens on a port, so its address is an object.
  const { port } = server.address() as AddressInfo
  console.log(`listening http://127.0.0.1:${port}`)
})
