import type { Kind } from '../../src/agents/contract.ts'
import type { Target } from '../catalog.ts'
import { useLoaded } from '../loading.ts'
import { Ago } from '../parts/ago.tsx'
import { goTo, linkTo } from '../route.ts'
import { client, config } from '../service.ts'
import { firstLine, visible } from '../text.ts'
import { type Chat, hasSessions, newChat } from './chats.ts'

const TITLES: Readonly<Record<Kind, string>> = { agent: 'Agents', team: 'Teams', workflow: 'Workflows' }
const KINDS = Object.keys(TITLES) as readonly Kind[]

/** Whether an address names a kind. */
export function isKind(text: string | undefined): text is Kind {
  return KINDS.includes(text as Kind)
}

interface Props {
  readonly targets: readonly Target[]
  readonly chat: Chat
}

/** Conversations that are listed. */
const RECENT = 8

/** The list of targets: links, or a select on a phone. */
export function Targets({ targets, chat }: Props) {
  const { kind, name } = chat
  const isNew = chat.sessionId.value === undefined
  const groups = KINDS.map(each => [each, targets.filter(({ kind }) => kind === each)] as const)
  const shown = groups.filter(([, all]) => all.length > 0)
  const chosen = targets.findIndex(each => each.kind === kind && each.name === name)
  const choose = (index: string) => {
    const target = targets[Number(index)]
    if (target) goTo('chat', [target.kind, target.name])
  }
  return (
    <>
      <label class="narrow-choice">
        Chat with
        <select value={chosen} onChange={event => choose(event.currentTarget.value)}>
          {shown.map(([each, all]) => (
            <optgroup key={each} label={TITLES[each]}>
              {all.map(target => (
                <option key={target.name} value={targets.indexOf(target)}>
                  {visible(target.name)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <nav class="targets" aria-label="Chats">
        <p>
          <button type="button" onClick={() => newChat(kind, name)}>
            New chat
          </button>
        </p>
        {hasSessions() && config.value.identity !== null && <Recent chat={chat} />}
        {shown.map(([each, all]) => (
          <section key={each}>
            <h2>{TITLES[each]}</h2>
            <ul>
              {all.map(target => (
                <li key={target.name}>
                  <a
                    href={linkTo('chat', [each, target.name])}
                    aria-current={isNew && each === kind && target.name === name ? 'page' : undefined}
                  >
                    {visible(target.name)}
                    <span class="soft small">
                      {target.paused ? 'Paused' : visible(target.description ?? '')}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  )
}

/** The newest conversations with anyone. */
function Recent({ chat }: { chat: Chat }) {
  const sessionId = chat.sessionId.value
  const { length } = chat.turns.value
  const { value } = useLoaded(`${sessionId} ${length}`, signal =>
    client.sessions.list({ limit: RECENT }, { signal }),
  )
  const sessions = value?.sessions ?? []
  if (sessions.length === 0) return null
  return (
    <section>
      <h2>Recent</h2>
      <ul>
        {sessions.map(({ id, kind, name, title, updatedAt }) => (
          <li key={`${kind} ${name} ${id}`}>
            <a
              href={linkTo('chat', [kind, name], { session: id })}
              aria-current={id === sessionId && kind === chat.kind && name === chat.name ? 'page' : undefined}
            >
              <b class="cut">{visible(firstLine(title ?? '') || id)}</b>
              <span class="soft small">
                {visible(name)} · <Ago at={updatedAt} isBare />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
