/** What the checks of LangGraph's interface use: one server, one line of the SDK, and a place for what they find. */
import { isDeepStrictEqual } from 'node:util'
import type * as Sdk from 'sdk-1.15'

/** One thing that a check found, with what a client would want. */
export interface Fact {
  readonly name: string
  readonly got: unknown
  readonly want: unknown
}

/** What a check found. */
export interface Found {
  readonly check: string
  readonly facts: readonly Fact[]
}

/** The names of lines of the SDK. */
export const LINES = ['sdk-1.0', 'sdk-1.12', 'sdk-1.15', 'sdk-2.0'] as const

export type Line = (typeof LINES)[number]

/** A server, as a check sees it. */
export interface Server {
  readonly url: string
  readonly line: Line
}

/** The users that have a token. LangGraph's own server knows no users. */
export type User = 'ann' | 'bob'

/** One frame of a stream. */
export interface Frame {
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: Each check looks into frames of its own kind.
  readonly data: any
  readonly id?: string
}

export interface Message {
  readonly type: string
  readonly id: string
  readonly content: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly name: string; readonly args: object; readonly id: string }[]
  readonly tool_call_chunks?: readonly { readonly args: string }[]
}

export type Values = { readonly messages: readonly Message[]; readonly __interrupt__?: readonly Waiting[] }

export interface Waiting {
  readonly id: string
  // biome-ignore lint/suspicious/noExplicitAny: Graphs choose it.
  readonly value: any
}

/** A check: it adds facts. It fails by a fact that is not what a client wants. */
export type Check = readonly [name: string, run: (way: Way) => Promise<void>, how?: How]

export interface How {
  /** Runs while no other check does. */
  readonly alone?: boolean
  /** The lines for which it is. Default: all. */
  readonly lines?: readonly Line[]
}

/** One check at work on one server. */
export type Way = ReturnType<typeof wayOf>

/** Begins a check. */
export function wayOf(server: Server, sdk: typeof Sdk) {
  const facts: Fact[] = []
  const connect = (user: User = 'ann', url: string = server.url): Sdk.Client =>
    new sdk.Client({ apiUrl: url, apiKey: user })
  const client = connect()

  /** Adds a fact. Dates and ids are not the same on two servers, so they are none. */
  const fact = (name: string, got: unknown, want: unknown = true): void => {
    facts.push({ name, ...plain({ got: got ?? null, want: want ?? null }) })
  }

  /** Asks without a client. */
  const ask = (path: string, init: RequestInit & { readonly user?: User } = {}): Promise<Response> => {
    const { user = 'ann', ...rest } = init
    const type = rest.body === undefined ? {} : { 'content-type': 'application/json' }
    return fetch(`${server.url}${path}`, {
      ...rest,
      headers: { 'x-api-key': user, ...type, ...rest.headers },
    })
  }
  const post = (path: string, body: unknown, user: User = 'ann'): Promise<Response> =>
    ask(path, { method: 'POST', body: JSON.stringify(body), user })

  const stream = (
    thread: string | null,
    agent: string,
    input: unknown,
    options: object = {},
  ): AsyncIterable<Frame> =>
    client.runs.stream(thread as string, agent, { input, ...options } as never) as never

  const all = async (frames: AsyncIterable<Frame>): Promise<Frame[]> => {
    const read: Frame[] = []
    for await (const frame of frames) read.push(frame)
    return read
  }

  /** Starts a run, and reads it to its end. */
  const say = (thread: string | null, agent: string, text: string, options: object = {}): Promise<Frame[]> =>
    all(stream(thread, agent, said(text), options))

  /** Makes a thread. Returns its id. */
  const make = async (): Promise<string> => (await client.threads.create()).thread_id

  /** Makes a thread with a finished run. */
  const told = async (agent: string, text: string): Promise<string> => {
    const thread = await make()
    await say(thread, agent, text)
    return thread
  }

  const messages = async (thread: string): Promise<readonly Message[]> =>
    messagesOf((await client.threads.getState(thread)).values)

  const runStatus = async (thread: string, run: string): Promise<string> =>
    (await client.runs.get(thread, run)).status

  const bob = connect('bob')
  const tools = { fact, ask, post, stream, all, say, make, told, messages, runStatus, connect }
  return { ...tools, facts, server, sdk, client, bob }
}

const IDS = /(msg_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-\d+)?|[0-9a-f]{32}/g

/** A fact as it is in a report: with numbers for ids, which no two servers have alike. */
function plain(fact: Pick<Fact, 'got' | 'want'>): Pick<Fact, 'got' | 'want'> {
  const ids = new Map<string, string>()
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `id ${ids.size + 1}`)
    return ids.get(id) ?? ''
  }
  return JSON.parse(JSON.stringify(fact).replaceAll(IDS, numbered))
}

/** Whether a fact is what a client wants. */
export const isWanted = ({ got, want }: Fact): boolean => isDeepStrictEqual(got, want)

export const same: (one: unknown, other: unknown) => boolean = isDeepStrictEqual

export const said = (text: string): Record<string, unknown> => ({
  messages: [{ role: 'user', content: text }],
})

export function messagesOf(values: unknown): readonly Message[] {
  return (values as Partial<Values> | undefined)?.messages ?? []
}

/** Types and texts, as `human hi`. */
export const brief = (messages: readonly Message[]): readonly string[] =>
  messages.map(({ type, content }) => `${type} ${textOf(content)}`.trim())

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map(block => (block as { text?: string }).text ?? '').join('') : ''
}

/** The frames with a name, also of agents inside. */
export const of = (frames: readonly Frame[], event: string): readonly Frame[] =>
  frames.filter(frame => frame.event === event || frame.event.startsWith(`${event}|`))

/** The state that the last frame with messages tells. */
export const lastValues = (frames: readonly Frame[]): Values =>
  of(frames, 'values').findLast(({ data }) => 'messages' in data)?.data ?? { messages: [] }

/** What the stream says that it waits for. */
export const waitingIn = (frames: readonly Frame[], event = 'values'): readonly Waiting[] =>
  of(frames, event).findLast(({ data }) => '__interrupt__' in data)?.data.__interrupt__ ?? []

/** The status of the answer that a client throws for; 200 if it throws nothing. */
export async function statusOf(asked: Promise<unknown>): Promise<number | string> {
  try {
    await asked
    return 200
  } catch (error) {
    const { status, message } = error as { readonly status?: number; readonly message: string }
    return status ?? message
  }
}

/** The message of what is thrown. */
export async function errorOf(asked: Promise<unknown>): Promise<string | undefined> {
  return asked.then(
    () => undefined,
    (error: Error) => error.message,
  )
}

/** Waits until something is so, for at most `ms`. Returns what it was last. */
export async function until<T>(
  read: () => T | Promise<T>,
  isSo: (value: T) => boolean,
  ms = 15_000,
): Promise<T> {
  const end = Date.now() + ms
  while (true) {
    const value = await read()
    if (isSo(value) || Date.now() > end) return value
    await pause(50)
  }
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

export const isUuid = (id: unknown): boolean =>
  typeof id === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)

/** Whether each is above the one before it. */
export const rises = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))

/** The id of nothing. */
export const NONE = '00000000-0000-4000-8000-000000000000'

/** The text that the pieces of one message make. */
export const joined = (frames: readonly Frame[], id?: string): string =>
  of(frames, 'messages')
    .map(({ data }) => data[0])
    .filter(message => message.type !== 'tool' && (id === undefined || message.id === id))
    .map(message => textOf(message.content))
    .join('')

/** What `slow` says. */
export const counted = (count: number): string =>
  Array.from({ length: count }, (_, at) => `${at + 1} `).join('')
