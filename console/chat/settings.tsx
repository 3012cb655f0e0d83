import { useLoaded } from '../loading.ts'
import { Failure } from '../parts/notice.tsx'
import { goTo } from '../route.ts'
import { client, config, providerKeys } from '../service.ts'
import { visible } from '../text.ts'
import { type Chat, hasSessions, newChat, userId } from './chats.ts'

/** The header for a key of any provider. */
const KEY_HEADER = 'x-api-key'

/** The session of a chat, and the settings of its runs. */
export function Settings({ chat }: { chat: Chat }) {
  const { kind, name } = chat
  const sessionId = chat.sessionId.value
  const open = (session: string) => goTo('chat', [kind, name], { session })
  const { identity } = config.value
  return (
    <div class="settings">
      {hasSessions() && identity !== null && (
        <Sessions key={`${kind}/${name}/${sessionId}`} chat={chat} open={open} />
      )}
      <button type="button" class="on-phone" onClick={() => newChat(kind, name)}>
        New chat
      </button>
      <details>
        <summary>Settings</summary>
        <form onSubmit={event => event.preventDefault()}>
          <label>
            Session id
            <input
              key={sessionId}
              defaultValue={sessionId ?? ''}
              maxLength={500}
              autocomplete="off"
              onChange={event => event.currentTarget.value !== '' && open(event.currentTarget.value)}
            />
          </label>
          {identity === null && (
            <label>
              User id
              <input
                value={userId}
                maxLength={500}
                autocomplete="off"
                onInput={event => {
                  userId.value = event.currentTarget.value
                }}
              />
            </label>
          )}
          <label>
            API key of the model provider
            <input
              type="password"
              value={providerKeys.value[KEY_HEADER] ?? ''}
              autocomplete="off"
              onInput={event => {
                const key = event.currentTarget.value.trim()
                providerKeys.value = key === '' ? {} : { [KEY_HEADER]: key }
              }}
            />
          </label>
        </form>
      </details>
    </div>
  )
}

/** The last sessions, to continue one. */
function Sessions({ chat, open }: { chat: Chat; open: (id: string) => void }) {
  const { kind, name } = chat
  const sessionId = chat.sessionId.value
  const { value, error } = useLoaded('sessions', signal =>
    client.sessions.list({ kind, name, limit: 20 }, { signal }),
  )
  if (error !== undefined) return <Failure error={error} />
  const sessions = value?.sessions ?? []
  const isListed = sessions.some(({ id }) => id === sessionId)
  const choose = (id: string) => (id === '' ? newChat(kind, name) : open(id))
  return (
    <label class="on-phone">
      Chat
      <select value={sessionId ?? ''} onChange={event => choose(event.currentTarget.value)}>
        <option value="">New chat</option>
        {sessionId !== undefined && !isListed && <option value={sessionId}>{visible(sessionId)}</option>}
        {sessions.map(({ id, title }) => (
          <option key={id} value={id}>
            {visible(title ?? id).slice(0, 80)}
          </option>
        ))}
      </select>
    </label>
  )
}
