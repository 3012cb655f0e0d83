/** A thread over AG-UI. */
import {
  type AssistantRuntime,
  type ChatModelRunResult,
  ExportedMessageRepository,
  type ThreadHistoryAdapter,
  type ThreadMessageLike,
  useAui,
  useAuiState,
} from '@assistant-ui/react'
import { fromAgUiMessages, useAgUiRuntime } from '@assistant-ui/react-ag-ui'
import { useState } from 'react'
import { ServableAgent } from 'servable/ag-ui-client'
import { AGENT, hasAnswerAtWork, stopAnswer } from './threads.ts'

const URL = `${location.origin}/api/agents/${AGENT}/ag-ui`

export function useAgUiThread(): AssistantRuntime {
  const aui = useAui()
  // A new thread has no id yet.
  const remoteId = useAuiState(state => state.threadListItem.remoteId)
  // One for as long as the thread is shown: it reads on.
  const [{ agent, history }] = useState(() => {
    const sessionId = async () => (await aui.threadListItem().initialize()).remoteId
    return { agent: new ThreadAgent({ url: URL }, sessionId), history: historyOf(remoteId) }
  })
  const onCancel = async () => {
    const { remoteId: id } = await aui.threadListItem().initialize()
    await stopAnswer(id)
  }
  return useAgUiRuntime({ agent, onCancel: () => void onCancel(), adapters: { history } })
}

/** Its thread gets an id with its first message. */
class ThreadAgent extends ServableAgent {
  readonly #sessionId: () => Promise<string>

  constructor(config: { readonly url: string }, sessionId: () => Promise<string>) {
    super(config)
    this.#sessionId = sessionId
  }

  override async runAgent(...args: Parameters<ServableAgent['runAgent']>) {
    this.threadId = await this.#sessionId()
    return super.runAgent(...args)
  }
}

/** The messages of the session, and the answer that is at work. The service keeps them: the page stores nothing. */
function historyOf(threadId: string | undefined): ThreadHistoryAdapter {
  const agent = new ServableAgent({ url: URL, ...(threadId !== undefined && { threadId }) })
  let wake = () => {}
  const changed = () =>
    new Promise<void>(resolve => {
      wake = resolve
    })
  let isOver = false
  const read = async () => {
    await agent.connectAgent({}, { onMessagesChanged: () => wake() }).finally(() => {
      isOver = true
      wake()
    })
  }
  const shown = () => messagesOf(agent)
  return {
    async load() {
      if (threadId === undefined) return { messages: [] }
      const isAtWork = await hasAnswerAtWork(threadId)
      const first = changed()
      const reading = read()
      await (isAtWork ? first : reading)
      // The answer at work comes from `resume`.
      const messages = shown()
      const before = isAtWork && messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages
      return { ...ExportedMessageRepository.fromArray(before), unstable_resume: isAtWork }
    },
    async *resume() {
      for (;;) {
        const next = changed()
        const { role, content, status, metadata } = shown().at(-1) ?? {}
        if (role === 'assistant') yield { content: partsOf(content), ...(status && { status, metadata }) }
        if (isOver) return
        await next
      }
    },
    async append() {},
  }
}

/** The messages of the thread. The newest one has what it waits for: approvals of calls. */
function messagesOf({ messages, pendingInterrupts: interrupts }: ServableAgent): ThreadMessageLike[] {
  if (interrupts.length === 0) return fromAgUiMessages(messages)
  const waiting = { ...messages.at(-1), metadata: { custom: { agui: { interrupts } } } }
  const shown = fromAgUiMessages([...messages.slice(0, -1), waiting])
  const status = { type: 'requires-action', reason: 'interrupt' } as const
  return shown.map((message, at) => (at === shown.length - 1 ? { ...message, status } : message))
}

/** The parts that assistant-ui shows. */
function partsOf(content: unknown): ChatModelRunResult['content'] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content as ChatModelRunResult['content'])
}
