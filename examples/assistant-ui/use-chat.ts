/** A thread over `useChat` of the AI SDK. */
import { useChat } from '@ai-sdk/react'
import { type AssistantRuntime, useAui, useAuiState } from '@assistant-ui/react'
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { useEffect, useMemo, useState } from 'react'
import { messagesOf } from 'servable/ai-sdk-ui/page'
import { AGENT, client, requestsOf, stopAnswer } from './threads.ts'

/** The route of the agent. Its threads are sessions: their ids are those of chats. */
const API = `/api/agents/${AGENT}/chat`

export function useChatThread(): AssistantRuntime {
  const aui = useAui()
  const { id, remoteId } = useAuiState(state => state.threadListItem)
  // The id that the thread has when it is opened. A new one has none yet.
  const [opened] = useState(remoteId)
  const transport = useMemo(() => {
    const sessionId = async () => (await aui.threadListItem().initialize()).remoteId
    return new DefaultChatTransport({
      api: API,
      prepareSendMessagesRequest: async ({ messages, trigger, messageId }) => ({
        body: { id: await sessionId(), messages: messages.slice(-3), trigger, messageId },
      }),
      prepareReconnectToStreamRequest: async () => ({ api: `${API}/${await sessionId()}/stream` }),
    })
  }, [aui])
  const chat = useChat({
    id,
    transport,
    // The service goes on once all is decided.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const { setMessages, resumeStream } = chat
  useEffect(() => {
    if (opened === undefined) return
    const load = async () => {
      const { turns } = await client.sessions.messages(AGENT, opened)
      setMessages(messagesOf(turns, await requestsOf(turns)))
      // The answer that is at work comes from its beginning.
      if (turns[0]?.status === 'running') await resumeStream()
    }
    load().catch(error => console.error(error))
  }, [opened, setMessages, resumeStream])
  const stop = async () => {
    await chat.stop()
    if (remoteId !== undefined) await stopAnswer(remoteId)
  }
  return useAISDKRuntime({ ...chat, stop })
}
