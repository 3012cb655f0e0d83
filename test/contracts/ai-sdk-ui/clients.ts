/** The stock clients of four versions, without a page: a chat whose state is plain, as `useChat` has it. */
import * as newest from 'ai'
import * as newest5 from 'ai-sdk-5'
import * as oldest5 from 'ai-sdk-5.0'
import * as newest6 from 'ai-sdk-6'
import { untyped } from '../../support.ts'

/** A part of a message: what a page draws. */
export interface Part {
  readonly type: string
  readonly [name: string]: unknown
}

export interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly Part[]
  readonly metadata?: unknown
}

/** A chat of any version: what all of them have, and what only newer ones have. */
export interface Chat {
  readonly id: string
  readonly status: 'submitted' | 'streaming' | 'ready' | 'error'
  readonly error: Error | undefined
  messages: Message[]
  sendMessage(
    message?: { readonly text: string; readonly messageId?: string } | { readonly parts: readonly Part[] },
    options?: { readonly body?: object },
  ): Promise<void>
  regenerate(options?: { readonly messageId?: string }): Promise<void>
  resumeStream(): Promise<void>
  stop(): Promise<void>
  addToolResult(output: ToolOutput): Promise<void>
  addToolOutput?(output: ToolOutput): Promise<void>
  addToolApprovalResponse?(response: {
    readonly id: string
    readonly approved: boolean
    readonly reason?: string
  }): Promise<void>
}

interface ToolOutput {
  readonly tool: string
  readonly toolCallId: string
  readonly output: unknown
}

/** Whether the page sends itself. */
type Decision = (chat: { readonly messages: Message[] }) => boolean

interface Sdk {
  readonly AbstractChat: new (options: object) => Chat
  readonly DefaultChatTransport: new (options: object) => object
  readonly lastAssistantMessageIsCompleteWithToolCalls: Decision
  readonly lastAssistantMessageIsCompleteWithApprovalResponses?: Decision
  readonly readUIMessageStream: (options: object) => AsyncIterable<Message>
}

/** A version of the AI SDK. */
export interface Client {
  readonly version: string
  readonly sdk: Sdk
  /** It knows approvals: 6 and newer. */
  readonly approves: boolean
  /** Its chat is ready again where there is nothing to resume: all but 5.0.0, which stays `submitted`. */
  readonly comesToRest: boolean
  /** It encodes the id of a chat in the path where it resumes: all but 5.0.0. */
  readonly encodesIds: boolean
  /** A stream that is resumed takes the place of the half message that the page has: 7. */
  readonly replaces: boolean
}

export const CLIENTS: readonly Client[] = [
  {
    version: '5.0.0',
    sdk: untyped(oldest5),
    approves: false,
    comesToRest: false,
    encodesIds: false,
    replaces: false,
  },
  {
    version: '5.0.277',
    sdk: untyped(newest5),
    approves: false,
    comesToRest: true,
    encodesIds: true,
    replaces: false,
  },
  {
    version: '6.0.326',
    sdk: untyped(newest6),
    approves: true,
    comesToRest: true,
    encodesIds: true,
    replaces: false,
  },
  {
    version: '7.0.173',
    sdk: untyped(newest),
    approves: true,
    comesToRest: true,
    encodesIds: true,
    replaces: true,
  },
]

type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** Where chats are sent. */
export interface Served {
  readonly url: string
  /** Default: over the network. */
  readonly fetch?: Fetch
}

export interface ChatOptions {
  readonly id?: string
  readonly messages?: readonly Message[]
  readonly user?: string | undefined
  /** Sends itself when all calls and approvals of the last message are answered. */
  readonly isAutomatic?: boolean
  /** Goes into each body. */
  readonly body?: object
}

/** A chat that also keeps what was asked and answered. */
export interface OpenChat {
  readonly chat: Chat
  /** Each request, with the text of its answer as far as the page read it. */
  readonly asked: readonly Asked[]
}

export interface Asked {
  readonly url: string
  readonly body: unknown
  status: number
  text: string
}

/** A chat of a version with the servable at a path, such as `agents/says`, or with the default agent. */
export function open(client: Client, { url, fetch = send }: Served, path: string, options: ChatOptions = {}) {
  const { id = crypto.randomUUID(), messages = [], user, isAutomatic = false, body } = options
  const { AbstractChat, DefaultChatTransport } = client.sdk
  const asked: Asked[] = []
  const transport = new DefaultChatTransport({
    api: `${url}/api/${path}${path === '' ? '' : '/'}chat`,
    ...(user !== undefined && { headers: { 'x-test-user': user } }),
    ...(body && { body }),
    fetch: (to: string, init?: RequestInit) => recorded(fetch, asked, to, init),
  })
  const chat = new (class extends AbstractChat {})({
    id,
    transport,
    state: new PlainState(messages),
    ...(isAutomatic && { sendAutomaticallyWhen: automatic(client, asked) }),
  })
  return { chat, asked } satisfies OpenChat
}

const send: Fetch = (url, init) => fetch(url, init)

/** Requests of one chat: more than any test makes. 5.0.0 sends itself again and again after an error. */
const MAX_ASKED = 20

const automatic =
  ({ sdk }: Client, asked: readonly Asked[]): Decision =>
  chat =>
    asked.length < MAX_ASKED &&
    (sdk.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
      sdk.lastAssistantMessageIsCompleteWithApprovalResponses?.(chat) === true)

/** Keeps what is sent and what comes back. */
async function recorded(fetch: Fetch, asked: Asked[], url: string, init?: RequestInit): Promise<Response> {
  const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
  const one: Asked = { url, body, status: 0, text: '' }
  asked.push(one)
  const response = await fetch(url, init)
  one.status = response.status
  if (response.body === null) return response
  const decoder = new TextDecoder()
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      one.text += decoder.decode(chunk, { stream: true })
      controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(heard), response)
}

/** A handler in this process, reached as over a network: the body of an answer breaks off where the page leaves. */
export function inProcess(handler: (request: Request) => Response | Promise<Response>): Served {
  return {
    url: 'http://127.0.0.1',
    async fetch(url, init) {
      const response = await handler(new Request(url, init))
      const { signal } = init ?? {}
      if (response.body === null || !signal) return response
      return new Response(response.body.pipeThrough(new TransformStream(), { signal }), response)
    },
  }
}

/** The state of a chat as `@ai-sdk/react` keeps it: what a page has seen is never changed. */
class PlainState {
  status = 'ready'
  error: Error | undefined
  messages: readonly Message[]

  constructor(messages: readonly Message[]) {
    this.messages = structuredClone(messages)
  }

  pushMessage = (message: Message): void => {
    this.messages = [...this.messages, message]
  }

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1)
  }

  replaceMessage = (at: number, message: Message): void => {
    this.messages = this.messages.with(at, this.snapshot(message))
  }

  snapshot = <T>(value: T): T => structuredClone(value)
}
