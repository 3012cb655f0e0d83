'use client'

import { type FormEvent, useState } from 'react'
import { useChat } from './use-chat.ts'

const AGENTS = ['typist', 'echo', 'calculator', 'summarizer']

/** A chat: what you say goes to an agent, whose answer is shown as it comes. */
export default function Chat() {
  const [agent, setAgent] = useState('typist')
  const { messages, isRunning, ask, stop } = useChat(agent)

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
            {from === 'agent' ? agent : from}: <span>{text}</span>
          </li>
        ))}
      </ol>
      <form onSubmit={submit}>
        <select
          aria-label="Agent"
          value={agent}
          disabled={isRunning}
          onChange={event => setAgent(event.target.value)}
        >
          {AGENTS.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input name="input" aria-label="Message" required />
        <button type="submit" disabled={isRunning}>
          Send
        </button>
        <button type="button" disabled={!isRunning} onClick={stop}>
          Stop
        </button>
      </form>
    </main>
  )
}
