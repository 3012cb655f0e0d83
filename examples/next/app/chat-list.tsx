import { type FormEvent, useState } from 'react'
import type { SessionSummary } from 'servable/sessions'
import { hashOf } from './place.ts'
import type { Kind, Offer, Place } from './service-client.ts'

interface Props {
  readonly offered: readonly Offer[]
  readonly chats: readonly SessionSummary[]
  readonly current: Place | undefined
  readonly onOpen: () => void
  readonly onNew: (kind: Kind, name: string) => void
  readonly onRename: (chat: SessionSummary, title: string) => void
  readonly onRemove: (chat: SessionSummary) => void
  readonly onMore: (() => void) | undefined
}

/** The chats, newest first, and the beginning of a new one. */
export function ChatList({ offered, chats, current, onOpen, onNew, onRename, onRemove, onMore }: Props) {
  function begin(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const chosen = offered[Number(new FormData(event.currentTarget).get('offer'))]
    if (chosen !== undefined) onNew(chosen.kind, chosen.name)
  }

  return (
    <nav id="chats" aria-label="Chats">
      <form className="new-chat" onSubmit={begin}>
        <select name="offer" aria-label="Chat with">
          {offered.map(({ kind, name }, index) => (
            <option key={`${kind}/${name}`} value={index}>
              {name}
            </option>
          ))}
        </select>
        <button type="submit">New chat</button>
      </form>
      <ul>
        {chats.map(chat => (
          <Entry
            key={hashOf(chat)}
            chat={chat}
            isCurrent={chat.id === current?.id}
            onOpen={onOpen}
            onRename={title => onRename(chat, title)}
            onRemove={() => onRemove(chat)}
          />
        ))}
      </ul>
      {onMore !== undefined && (
        <button type="button" onClick={onMore}>
          Older chats
        </button>
      )}
    </nav>
  )
}

interface EntryProps {
  readonly chat: SessionSummary
  readonly isCurrent: boolean
  readonly onOpen: () => void
  readonly onRename: (title: string) => void
  readonly onRemove: () => void
}

function Entry({ chat, isCurrent, onOpen, onRename, onRemove }: EntryProps) {
  const [isEdited, setIsEdited] = useState(false)
  const title = chat.title ?? 'Untitled'

  function rename(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    onRename(String(new FormData(event.currentTarget).get('title')))
    setIsEdited(false)
  }

  if (isEdited) {
    return (
      <li>
        <form className="rename" onSubmit={rename}>
          {/* biome-ignore lint/a11y/noAutofocus: whoever pressed Rename types next */}
          <input name="title" aria-label="Title" defaultValue={title} required maxLength={200} autoFocus />
          <button type="submit">Save</button>
          <button type="button" onClick={() => setIsEdited(false)}>
            Cancel
          </button>
        </form>
      </li>
    )
  }
  return (
    <li>
      <a href={hashOf(chat)} aria-current={isCurrent ? 'page' : undefined} onClick={onOpen}>
        <span>{title}</span>
        <small>
          {chat.name}
          {chat.isRunning === true && ', at work'}
        </small>
      </a>
      <button type="button" aria-label={`Rename ${title}`} onClick={() => setIsEdited(true)}>
        ✎
      </button>
      <button
        type="button"
        aria-label={`Delete ${title}`}
        onClick={() => confirm(`Delete “${title}”?`) && onRemove()}
      >
        ✕
      </button>
    </li>
  )
}
