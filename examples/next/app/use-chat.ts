import { useEffect, useRef, useState } from 'react'
import type { Turn } from 'servable'
import { createClient, ServableClientError } from 'servable/client'
// The type alone: none of the service reaches the browser.
import type { handler } from './service.ts'

// In the browser alone: a page is rendered on the server too, where `/api` is no whole address. So many tries outlast a restart.
const connect = () => createClient<typeof handler>({ baseUrl: '/api', maxTries: 10 })

export interface Message {
  readonly from: 'you' | 'agent'
  readonly text: string
}

/** A conversation with an agent. A page that is reloaded in the middle of an answer draws it again and follows on. */
export function useChat(agent: string) {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [isRunning, setIsRunning] = useState(true)
  const run = useRef<string>(undefined)

  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    /** Draws what was said before. */
    async function draw(): Promise<void> {
      setIsRunning(true)
      const turns = await turnsOf(agent, signal)
      setMessages(turns.flatMap(messagesOf))
      const last = turns.at(-1)
      if (last?.status === 'running') {
        run.current = last.runId
        await follow(last.runId, text => setMessages(answered(text)), signal)
      }
      setIsRunning(false)
    }
    draw().catch(error => {
      if (signal.aborted) return
      console.error(error)
      setIsRunning(false)
    })
    return () => leaving.abort()
  }, [agent])

  async function ask(input: string): Promise<void> {
    setMessages(before => [...before, { from: 'you', text: input }, { from: 'agent', text: '' }])
    setIsRunning(true)
    try {
      const sessionId = await sessionOf(agent)
      // It goes on though the page is left.
      const { id } = await connect().runs.start({ kind: 'agent', name: agent }, input, { sessionId })
      run.current = id
      await follow(id, text => setMessages(answered(text)))
    } catch (error) {
      setMessages(answered(String(error)))
    }
    setIsRunning(false)
  }

  const stop = () => run.current && connect().runs.cancel(run.current)

  return { messages, isRunning, ask, stop }
}

/** The same messages with this text in the last one. */
const answered = (text: string) => (messages: readonly Message[]) =>
  messages.with(-1, { from: 'agent', text })

/** Reads the answer of a run from its beginning, and tells its text as it grows. */
async function follow(runId: string, tell: (text: string) => void, signal?: AbortSignal): Promise<void> {
  let text = ''
  for await (const event of connect().runs.stream(runId, { signal })) {
    // The server stopped in the middle of the answer, and the next one tells it from the beginning.
    if (event.type === 'resumed') text = ''
    if (event.type === 'text') text += event.text
    if (event.type === 'error') text += event.error
    tell(text)
  }
}

/** A turn as messages. Of one that is running the answer is not known yet. */
const messagesOf = ({ input, text = '', error = '' }: Turn): readonly Message[] => [
  { from: 'you', text: String(input) },
  { from: 'agent', text: text || error },
]

/** The session of this browser with an agent. Whoever knows its id can read it: authenticate users, and they have a list of theirs. */
async function sessionOf(agent: string): Promise<string> {
  const known = localStorage.getItem(agent)
  if (known !== null) return known
  const { id } = await connect().sessions.create({ name: agent })
  localStorage.setItem(agent, id)
  return id
}

/** The newest turns with an agent, oldest first. */
async function turnsOf(agent: string, signal: AbortSignal): Promise<readonly Turn[]> {
  const id = localStorage.getItem(agent)
  if (id === null) return []
  try {
    const { turns } = await connect().sessions.messages(agent, id, {}, { signal })
    return turns.toReversed()
  } catch (error) {
    if (!(error instanceof ServableClientError && error.code === 'session_not_found')) throw error
    // It was deleted, or is too old.
    localStorage.removeItem(agent)
    return []
  }
}
