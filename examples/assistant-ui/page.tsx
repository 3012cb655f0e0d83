/** A chat of assistant-ui beside the list of its threads. `?ag-ui` in the address takes AG-UI in place of `useChat`. */
import {
  AssistantRuntimeProvider,
  AuiIf,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadListItemPrimitive,
  ThreadListPrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
  useRemoteThreadListRuntime,
} from '@assistant-ui/react'
import { createRoot } from 'react-dom/client'
import { threads } from './threads.ts'
import { useAgUiThread } from './use-ag-ui.ts'
import { useChatThread } from './use-chat.ts'

const address = new URLSearchParams(location.search)
const runtimeHook = address.has('ag-ui') ? useAgUiThread : useChatThread

function Page() {
  const runtime = useRemoteThreadListRuntime({
    runtimeHook,
    adapter: threads,
    initialThreadId: location.hash.slice(1) || undefined,
    onThreadIdChange: id => history.replaceState(null, '', `#${id ?? ''}`),
  })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadListPrimitive.Root className="threads">
        <ThreadListPrimitive.New>New thread</ThreadListPrimitive.New>
        <ThreadListPrimitive.Items components={{ ThreadListItem }} />
      </ThreadListPrimitive.Root>
      <ThreadPrimitive.Root className="thread">
        <ThreadPrimitive.Viewport className="messages">
          <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root className="composer">
          <ComposerPrimitive.Input aria-label="Message" autoFocus />
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

function ThreadListItem() {
  return (
    <ThreadListItemPrimitive.Root className="item">
      <ThreadListItemPrimitive.Trigger>
        <ThreadListItemPrimitive.Title fallback="New thread" />
      </ThreadListItemPrimitive.Trigger>
      <ThreadListItemPrimitive.Delete aria-label="Delete the thread">×</ThreadListItemPrimitive.Delete>
    </ThreadListItemPrimitive.Root>
  )
}

function UserMessage() {
  return (
    <MessagePrimitive.Root className="message user">
      <MessagePrimitive.Parts />
    </MessagePrimitive.Root>
  )
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root className="message">
      <MessagePrimitive.Parts components={{ tools: { Fallback: ToolCall } }} />
    </MessagePrimitive.Root>
  )
}

/** A call of a tool. While it waits for a decision, it has the buttons for it. */
function ToolCall({ toolName, argsText, approval, respondToApproval }: ToolCallMessagePartProps) {
  const isOpen =
    approval !== undefined && approval.approved === undefined && approval.resolution === undefined
  const decide = (approved: boolean) => () => void respondToApproval({ approved })
  return (
    <div className="call">
      <code>
        {toolName} {argsText}
      </code>
      {isOpen && (
        <button type="button" onClick={decide(true)}>
          Approve
        </button>
      )}
      {isOpen && (
        <button type="button" onClick={decide(false)}>
          Deny
        </button>
      )}
    </div>
  )
}

createRoot(document.getElementById('root')!).render(<Page />)
