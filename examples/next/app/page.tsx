'use client'

import { useCallback, useEffect, useState } from 'react'
import type { SessionSummary } from 'servable/sessions'
import { ChatList } from './chat-list.tsx'
import { hashOf, newPlace, usePlace } from './place.ts'
import { Room } from './room.tsx'
import { type Offer, offers, remove, rename, sessions, wordsOf } from './service-client.ts'

/** The chats of a visitor in a list, and the one that is open. */
export default function Page() {
  const [offered, setOffered] = useState<readonly Offer[]>([])
  const [chats, setChats] = useState<readonly SessionSummary[]>()
  const [more, setMore] = useState<string | null>(null)
  const [problem, setProblem] = useState<string>()
  const [isListOpen, setIsListOpen] = useState(false)
  const place = usePlace()

  const attempt = useCallback(async (work: () => Promise<unknown>) => {
    try {
      await work()
      setProblem(undefined)
    } catch (error) {
      setProblem(wordsOf(error))
    }
  }, [])

  const refresh = useCallback(
    () =>
      attempt(async () => {
        const page = await sessions()
        setChats(page.sessions)
        setMore(page.nextCursor)
      }),
    [attempt],
  )

  const open = useCallback((kind: Offer['kind'], name: string) => {
    location.hash = hashOf(newPlace(kind, name))
    setIsListOpen(false)
  }, [])

  useEffect(() => {
    void refresh()
    void attempt(async () => setOffered(await offers()))
  }, [attempt, refresh])

  const [first] = offered
  useEffect(() => {
    if (place === undefined && first !== undefined) {
      location.replace(hashOf(newPlace(first.kind, first.name)))
    }
  }, [place, first])

  return (
    <div className="app" data-list={isListOpen ? 'open' : 'closed'}>
      <button
        type="button"
        className="list-button"
        aria-expanded={isListOpen}
        aria-controls="chats"
        onClick={() => setIsListOpen(!isListOpen)}
      >
        Chats
      </button>
      <ChatList
        offered={offered}
        chats={chats ?? []}
        current={place}
        onOpen={() => setIsListOpen(false)}
        onNew={open}
        onRename={(chat, title) => attempt(() => rename(chat, title).then(refresh))}
        onRemove={chat =>
          attempt(async () => {
            await remove(chat)
            if (chat.id === place?.id) open(chat.kind, chat.name)
            await refresh()
          })
        }
        onMore={
          more === null
            ? undefined
            : () =>
                attempt(async () => {
                  const page = await sessions(more)
                  setChats([...(chats ?? []), ...page.sessions])
                  setMore(page.nextCursor)
                })
        }
      />
      <main>
        {problem !== undefined && <p role="alert">{problem}</p>}
        {chats === undefined || place === undefined ? (
          <p role="status">Loading…</p>
        ) : (
          <Room
            key={hashOf(place)}
            place={place}
            description={
              offered.find(({ kind, name }) => kind === place.kind && name === place.name)?.description
            }
            isKept={more !== null || chats.some(({ id }) => id === place.id)}
            onChange={refresh}
          />
        )}
      </main>
    </div>
  )
}
