'use client'

import { type FormEvent, useRef, useState } from 'react'
import { createClient } from 'servable/client'
// The type alone: none of the service reaches the browser.
import type { handler } from './service.ts'

// In the browser alone: a page is rendered on the server too, where `/api` is no whole address.
const connect = () => createClient<typeof handler>({ baseUrl: '/api' })

const AGENTS = ['typist', 'echo', 'calculator', 'summarizer'] as const

interface Message {
  readonly from: 'you' | (typeof AGENTS)[number]
  readonly text: string
}

/** A chat: what you say goes to an agent, whose answer is shown as it comes. */
export default function Chat() {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [agent, setAgent] = useState<(typeof AGENTS)[number]>('typist')
  const running = useRef<AbortController>(undefined)

  const say = (text: string) =>
    setMessages(before => {
      const last = before.at(-1)!
      return [...before.slice(0, -1), { ...last, text: last.text + text }]
    })

  async function ask(input: string): Promise<void> {
    // One run at a time: the one before is cancelled, on the service too.
    running.current?.abort()
    running.current = new AbortController()
    const { signal } = running.current
    setMessages(before => [...before, { from: 'you', text: input }, { from: agent, text: '' }])
    try {
      for await (const event of connect().agent(agent).stream(input, { signal })) {
        if (event.type === 'text') say(event.text)
        if (event.type === 'error') say(event.error)
      }
    } catch (error) {
      if (!signal.aborted) say(String(error))
    }
  }

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const form = event.currentTarget
    const input = String(new FormData(form).get('input'))
    form.reset()
    void ask(input)
  }

  return (
    <main>
      <ol>
        {messages.map(({ from, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages are only ever added
          <li key={index} data-from={from}>
            {from}: <span>{text}</span>
          </li>
        ))}
      </ol>
      <form onSubmit={submit}>
        <select
          aria-label="Agent"
          value={agent}
          onChange={event => setAgent(event.target.value as (typeof AGENTS)[number])}
        >
          {AGENTS.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input name="input" aria-label="Message" required />
        <button type="submit">Send</button>
        <button type="button" onClick={() => running.current?.abort()}>
          Stop
        </button>
      </form>
    </main>
  )
}
