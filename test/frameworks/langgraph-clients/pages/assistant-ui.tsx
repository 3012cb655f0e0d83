/** A page of assistant-ui with its runtime for LangGraph. The address has the server (`url`), the `agent` and the `thread`. */
import {
  AssistantRuntimeProvider,
  AuiIf,
  ComposerPrimitive,
  MessagePrimitive,
  type RemoteThreadListAdapter,
  ThreadPrimitive,
} from '@assistant-ui/react'
import {
  unstable_createLangGraphStream as createStream,
  type LangChainMessage,
  useLangGraphInterruptState,
  useLangGraphRuntime,
  useLangGraphSendCommand,
} from '@assistant-ui/react-langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { createRoot } from 'react-dom/client'

const query = new URLSearchParams(location.search)
const assistantId = query.get('agent') ?? ''
const client = new Client({ apiUrl: query.get('url') ?? '', apiKey: 'ann' })

const threadOf = (id: string) => ({ status: 'regular' as const, remoteId: id, externalId: id })

/** The threads of the server. */
const threads: RemoteThreadListAdapter = {
  async list() {
    const found = await client.threads.search({ metadata: { graph_id: assistantId } })
    return { threads: found.map(({ thread_id }) => threadOf(thread_id)) }
  },
  fetch: async id => threadOf((await client.threads.get(id)).thread_id),
  async initialize() {
    const { thread_id: id } = await client.threads.create()
    return { remoteId: id, externalId: id }
  },
  delete: id => client.threads.delete(id),
  rename: async () => {},
  archive: async () => {},
  unarchive: async () => {},
  generateTitle: async () => new ReadableStream() as never,
}

const stream = createStream({ client: client as never, assistantId })

interface State {
  readonly messages?: LangChainMessage[]
}

function Page() {
  const runtime = useLangGraphRuntime({
    unstable_threadListAdapter: threads,
    unstable_allowCancellation: true,
    threadId: query.get('thread') ?? undefined,
    onThreadIdChange(id) {
      if (id === undefined) return
      query.set('thread', id)
      history.replaceState(null, '', `?${query}`)
    },
    stream,
    async load(id) {
      const { values, tasks } = await client.threads.getState<State>(id)
      return { messages: values.messages ?? [], interrupts: (tasks[0]?.interrupts ?? []) as never }
    },
    async getCheckpointId(id, before) {
      const states = await client.threads.getHistory<State>(id)
      const found = states.find(({ values }) => (values.messages ?? []).length === before.length)
      return found?.checkpoint.checkpoint_id ?? null
    },
  })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        <Approval />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" />
          <AuiIf condition={state => !state.thread.isRunning}>
            <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          </AuiIf>
          <AuiIf condition={state => state.thread.isRunning}>
            <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
          </AuiIf>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  )
}

function UserMessage() {
  return (
    <MessagePrimitive.Root data-type="human">
      <MessagePrimitive.Parts />
    </MessagePrimitive.Root>
  )
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root data-type="ai">
      <MessagePrimitive.Parts components={{ tools: { Fallback: Call } }} />
      <MessagePrimitive.Error>
        <span role="alert">failed</span>
      </MessagePrimitive.Error>
    </MessagePrimitive.Root>
  )
}

function Call({ toolName, argsText, result }: { toolName: string; argsText: string; result?: unknown }) {
  return (
    <p>
      {toolName} {argsText} {result === undefined ? '' : String(result)}
    </p>
  )
}

function Approval() {
  const waiting = useLangGraphInterruptState()
  const send = useLangGraphSendCommand()
  if (waiting === undefined) return null
  const approve = () => send({ resume: { decisions: [{ type: 'approve' }] } as never })
  return (
    <button type="button" onClick={approve}>
      Approve
    </button>
  )
}

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<Page />)
