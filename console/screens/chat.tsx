import { chatOf, type Chat as OpenChat } from '../chat/chats.ts'
import { Composer } from '../chat/composer.tsx'
import { AnswerAnnouncer, Messages } from '../chat/messages.tsx'
import { Settings } from '../chat/settings.tsx'
import { isKind, loadTargets, Targets } from '../chat/targets.tsx'
import { useLoaded } from '../loading.ts'
import { Failure, Notice } from '../parts/notice.tsx'
import { route } from '../route.ts'
import { visible } from '../text.ts'

const ABSENT =
  'The service does not list what it serves (`registry: false`). Open a chat by its address: `#/chat/agent/<name>`.'

/** Chats with agents, teams and workflows. */
export function Chat() {
  const { value: targets = [], error, isLoading } = useLoaded('targets', loadTargets)
  const { path, query } = route.value
  const [first] = targets
  const [kind, name] = path.length > 1 ? path : [first?.kind, first?.name]
  if (!isKind(kind) || name === undefined) {
    return (
      <>
        <h1 tabIndex={-1}>Chat</h1>
        {isLoading && <p aria-busy="true">Loading…</p>}
        {error !== undefined && <Failure error={error} absent={ABSENT} />}
        {!isLoading && error === undefined && <Notice>The service has no agents.</Notice>}
      </>
    )
  }
  const chat = chatOf(kind, name, query.get('session') ?? undefined)
  return (
    <div class="columns">
      <Targets targets={targets} kind={kind} name={name} />
      <Conversation key={`${kind}/${name}`} chat={chat} />
    </div>
  )
}

function Conversation({ chat }: { chat: OpenChat }) {
  const { failure, isLoading, earlier, turns } = chat
  return (
    <div class="conversation">
      <h1 tabIndex={-1}>Chat with {visible(chat.name)}</h1>
      <Settings chat={chat} />
      {failure.value !== undefined && <Failure error={failure.value} />}
      {earlier.value !== null && (
        <button type="button" disabled={isLoading.value} onClick={() => void chat.load()}>
          Show earlier messages
        </button>
      )}
      {isLoading.value && <p aria-busy="true">Loading…</p>}
      {turns.value.length > 0 && <Messages chat={chat} />}
      <AnswerAnnouncer chat={chat} />
      <Composer chat={chat} />
    </div>
  )
}
