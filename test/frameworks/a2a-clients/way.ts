/** What the clients of A2A can do, in their own words. */

export type Transport = 'JSONRPC' | 'HTTP+JSON'

export interface Place {
  readonly url: string
  /** What the client sends as its bearer token. */
  readonly token?: string
  /** What the client prefers. */
  readonly transport?: Transport
  /** Written into every message. */
  readonly taskId?: string
  readonly contextId?: string
}

/** A part of a message of A2A 0.3. */
export interface Part {
  readonly kind: string
  readonly text?: string
  readonly data?: unknown
  readonly file?: { readonly name?: string; readonly mimeType?: string; readonly bytes?: string }
}

/** An event of A2A 0.3. */
export interface Update {
  readonly kind: string
  readonly id?: string
  readonly contextId?: string
  readonly status?: { readonly state: string }
  readonly artifact?: { readonly parts: readonly Part[] }
}

interface Words {
  readonly text: string
}

/** What Strands' agent is given. */
export type StrandsInput = string | Words[] | { role: 'user' | 'assistant'; content: Words[] }[]

export interface Strands {
  /** Gives the events of the service, and returns the answer. */
  stream(place: Place, input: StrandsInput): AsyncGenerator<Update, string>
  /** Asks without any options. */
  plain(
    url: string,
    input: string,
  ): Promise<{ answer: string; name: string | undefined; description: string | undefined }>
  /** Asks two agents, one after the other. */
  graph(place: Place, input: string): Promise<{ status: string; answers: string[] }>
  /** Gives the state of the task. */
  cancel(place: Place, id: string): Promise<string>
}

/** A part of the Agent Development Kit. */
export interface AdkPart {
  text?: string
  inlineData?: { mimeType?: string; data?: string }
  fileData?: { fileUri?: string; mimeType?: string }
  functionCall?: { id?: string; name?: string; args?: Record<string, unknown> }
  functionResponse?: { id?: string; name?: string; response?: Record<string, unknown> }
}

/** An event of the Agent Development Kit. */
export interface AdkEvent {
  readonly author?: string | undefined
  readonly content?: { readonly parts?: readonly AdkPart[] } | undefined
  readonly partial?: boolean | undefined
  readonly turnComplete?: boolean | undefined
  readonly errorMessage?: string | undefined
  readonly customMetadata?: Readonly<Record<string, unknown>> | undefined
}

/** A conversation with an agent, as an application of the kit has it. */
export interface AdkTalk {
  /** Gives the events of a turn. */
  say(parts: string | AdkPart[], signal?: AbortSignal): Promise<AdkEvent[]>
  /** Gives the events that the kit keeps. */
  kept(): Promise<AdkEvent[]>
}

export interface AdkOptions {
  /** Whether the card that the client is given has streams. Default: as the service says. */
  readonly isStreaming?: boolean
  /** Hears of the parts that are sent. */
  readonly onSent?: (parts: readonly Part[]) => void
  /** Hears of the events of the service. */
  readonly onUpdate?: (update: Update) => void
}

export interface Adk {
  talk(place: Place, options?: AdkOptions): Promise<AdkTalk>
  /** Talks without any options. */
  plain(url: string): Promise<AdkTalk>
  /** Talks with `first` and then with `second`. */
  sequence(place: Place): Promise<AdkTalk>
  /** Gives the state of the task. */
  cancel(place: Place, id: string): Promise<string>
}

/** A message to a model of the AI SDK. */
export type ModelInput =
  | string
  | (
      | { role: 'assistant'; content: string }
      | {
          role: 'user'
          content:
            | string
            | ({ type: 'text'; text: string } | { type: 'file'; mediaType: string; data: Uint8Array })[]
        }
    )[]

export interface ModelOptions {
  readonly contextId?: string
  /** Hears of the pieces of a stream. */
  readonly onText?: (text: string) => void
}

interface ModelFile {
  readonly mediaType: string
  readonly base64: string
}

export interface ModelAnswer {
  readonly text: string
  readonly finishReason: string | undefined
  readonly files: readonly ModelFile[]
}

export interface AiSdk {
  generate(url: string, input: ModelInput, options?: ModelOptions): Promise<ModelAnswer>
  stream(url: string, input: ModelInput, options?: ModelOptions): Promise<ModelAnswer>
}
