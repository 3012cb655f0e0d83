import { useEffect } from 'preact/hooks'
import type { Target } from '../catalog.ts'
import { catalog } from '../catalog.ts'
import { chatOf, type Chat as OpenChat } from '../chat/chats.ts'
import { Composer } from '../chat/composer.tsx'
import { Examples } from '../chat/examples.tsx'
import { AnswerAnnouncer, Messages } from '../chat/messages.tsx'
import { Settings } from '../chat/settings.tsx'
import { isKind, Targets } from '../chat/targets.tsx'
import { Empty } from '../parts/empty.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { linkTo, route } from '../route.ts'
import { visible } from '../text.ts'

const ABSENT =
  'This service lists no agents, since `registry` is `false`. Open a chat by its address: `#/chat/agent/NAME`.'

/** Chats with agents, teams and workflows. */
export function Chat() {
  const { targets, error, isLoaded } = catalog.value
  const { path, query } = route.value
  const [first] = targets
  const [kind, name] = path.length > 1 ? path : [first?.kind, first?.name]
  if (!isKind(kind) || name === undefined) {
    return (
      <div class="page">
        <h1 tabIndex={-1}>Chat</h1>
        {!isLoaded && <Loading />}
        {error !== undefined && <Failure error={error} absent={ABSENT} />}
        {isLoaded && error === undefined && (
          <Notice>This service has no agents yet. To add one, make an `Agent` in its code.</Notice>
        )}
      </div>
    )
  }
  const chat = chatOf(kind, name, query.get('session') ?? undefined)
  const { paused, description, examples } =
    targets.find(each => each.kind === kind && each.name === name) ?? {}
  return (
    <div class="columns">
      <Targets targets={targets} chat={chat} />
      <Conversation
        key={`${kind}/${name}`}
        chat={chat}
        paused={paused}
        description={description ?? undefined}
        examples={examples}
        run={query.get('run') ?? undefined}
      />
    </div>
  )
}

function Conversation({
  chat,
  paused,
  description,
  examples,
  run,
}: {
  chat: OpenChat
  paused: Target['paused']
  description: string | undefined
  examples: Target['examples']
  /** A run to show, which has no session. */
  run: string | undefined
}) {
  const { failure, isLoading, earlier, turns } = chat
  useEffect(() => {
    if (run !== undefined) void chat.show(run)
  }, [run])
  return (
    <div class="conversation">
      <header class="bar2">
        <h1 tabIndex={-1}>
          Chat with{' '}
          <a class="inline" href={linkTo('agents', [chat.kind, chat.name])}>
            {visible(chat.name)}
          </a>
        </h1>
        <Settings chat={chat} />
      </header>
      <div class="turns">
        {paused && (
          <Notice>
            {visible(chat.name)} is paused and takes no messages now. {visible(paused.reason ?? '')}
          </Notice>
        )}
        {failure.value !== undefined && <Failure error={failure.value} />}
        {earlier.value !== null && (
          <button type="button" disabled={isLoading.value} onClick={() => void chat.load()}>
            Show earlier messages
          </button>
        )}
        {isLoading.value && <Loading />}
        {turns.value.length > 0 && <Messages chat={chat} />}
        {turns.value.length === 0 && !isLoading.value && failure.value === undefined && (
          <>
            <Empty>{description ? visible(description) : `Say something to ${visible(chat.name)}.`}</Empty>
            <Examples
              {...{ kind: chat.kind, name: chat.name, examples }}
              session={route.value.query.get('session') ?? undefined}
            />
          </>
        )}
      </div>
      <AnswerAnnouncer chat={chat} />
      <Composer chat={chat} />
    </div>
  )
}
