/** What a page sees of a chat, and what it waits for. */
import { expect } from 'vitest'
import { jsonRequest } from '../http/client.ts'
import {
  type Chat,
  type Client,
  type Message,
  type OpenChat,
  open,
  type Part,
  type Served,
} from './clients.ts'

export type Server = () => Served

/** The parts that a page draws, without what tells nothing. */
export function shown(message: Message | undefined): Part[] {
  const parts = (message?.parts ?? []).filter(({ type }) => type !== 'step-start')
  return parts.map(part => JSON.parse(JSON.stringify(part)))
}

/** The texts of a message, in their order. */
export function said(message: Message | undefined): string[] {
  return shown(message).flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []))
}

/** The calls of a message: of tools whose names the page knows, and of others. */
export function calls(message: Message | undefined): Part[] {
  return shown(message).filter(({ type }) => type === 'dynamic-tool' || type.startsWith('tool-'))
}

export function last({ messages }: Chat): Message | undefined {
  return messages.at(-1)
}

/** Sends a text in a new chat, and gives the chat when the answer has ended. */
export async function answered(client: Client, server: Server, path: string, text = 'x'): Promise<OpenChat> {
  const opened = open(client, server(), path)
  await opened.chat.sendMessage({ text })
  return opened
}

/** Checks that a chat has ended well: a user's message and one answer, whose parts have all ended. */
export function expectAnswer({ chat, asked }: OpenChat, messages = 2): Message {
  expect(chat.error).toBeUndefined()
  expect(chat.status).toBe('ready')
  expect(chat.messages.map(({ role }) => role)).toEqual(
    Array.from({ length: messages }, (_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
  )
  expect(asked.at(-1)?.text).toMatch(/data: \[DONE\]\n\n$/)
  const answer = last(chat) as Message
  for (const part of answer.parts) expect(String(part.state)).not.toContain('streaming')
  return answer
}

/** What came of the run that waits under a name. */
export async function fateOf({ url, fetch: send = fetch }: Served, name: string): Promise<string> {
  const answer = await send(`${url}/api/agents/tells/run`, post({ input: name }))
  return (await answer.json()).text
}

export async function openGate({ url, fetch: send = fetch }: Served, name: string): Promise<void> {
  await (await send(`${url}/api/agents/opens/run`, post({ input: name }))).text()
}

export function post(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return jsonRequest(body, headers)
}

/** A stream without its keep-alive comments. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^:.*\n\n?/gm, '')
}
