/** What every client of OpenAI's interface can do, in its own words. */

export interface Asked {
  readonly model: string
  readonly text: string
  /** A data URL, beside the text. */
  readonly image?: string
  readonly signal?: AbortSignal
}

export interface Answered {
  readonly text: string
  /** What the client shows of thoughts. Empty for clients that show none. */
  readonly reasoning: string
  /** The tokens of the question and of the answer. */
  readonly usage: readonly [input: number | undefined, output: number | undefined]
  /** Why it ended, where the client tells. */
  readonly finish?: string | null | undefined
}

export type Paint = (args: { readonly of: string }) => string

/** One client with one of the two interfaces. */
export interface Way {
  ask(asked: Asked): Promise<Answered>
  /** The same as a stream: `onText` gets each piece of text as it comes. */
  stream(asked: Asked, onText?: (piece: string) => void): Promise<Answered>
  /** Offers the tool `paint`, runs it as often as the agent calls it, and gives the text at the end. */
  withTool(asked: Asked, paint: Paint): Promise<string>
  streamWithTool(asked: Asked, paint: Paint): Promise<string>
  /** Demands an object of a schema. */
  object(asked: Asked): Promise<unknown>
  streamObject?: ((asked: Asked) => Promise<unknown>) | undefined
  /** Asks a model that calls a tool to hand the conversation over to another one. Gives the other one's answer. */
  handOver?(asked: Asked, to: string): Promise<string>
  /** Says two texts, and tells all of the first answer with the second. Gives the last answer. */
  converse(model: string, first: string, second: string): Promise<string>
  /** The same, but the second names the response to the first. */
  sayBoth?(model: string, first: string, second: string): Promise<string>
  /** Decides each call that needs an approval, and gives the text of the run that goes on. */
  approve?(asked: Asked, decide: (args: unknown) => boolean): Promise<string>
}

export const DESCRIPTION = 'Paints a thing'

export const PARAMETERS = {
  type: 'object' as const,
  properties: { of: { type: 'string' as const } },
  required: ['of'],
  additionalProperties: false,
}

/** What `object` demands. */
export const SCHEMA = {
  type: 'object' as const,
  properties: { grams: { type: 'number' as const } },
  required: ['grams'],
  additionalProperties: false,
}

/** The SDK of OpenAI, as far as the tests of kept responses use it. */
export interface Sdk {
  readonly models: {
    list(): AsyncIterable<{ readonly id: string }>
    retrieve(id: string): Promise<object>
  }
  readonly chat: {
    readonly completions: { create(body: object): Promise<unknown> }
  }
  readonly responses: {
    create(body: object): Promise<Kept>
    stream(body: object): Stream
    retrieve(id: string): Promise<Kept>
    retrieve(id: string, query: { stream: true; starting_after?: number }): Promise<AsyncIterable<Told>>
    cancel(id: string): Promise<Kept>
    delete(id: string): Promise<unknown>
    readonly inputItems: { list(id: string): AsyncIterable<Item> }
  }
}

/** A stream that can be read, and whose end can be awaited. */
export interface Stream extends AsyncIterable<Told> {
  finalResponse(): Promise<Kept>
  abort(): void
}

/** A response object. */
export interface Kept {
  readonly id: string
  readonly status: string
  readonly output: readonly Item[]
  readonly output_text: string
  readonly [field: string]: unknown
}

export interface Item {
  readonly type: string
  readonly [field: string]: unknown
}

/** An event of a stream. */
export interface Told {
  readonly type: string
  readonly sequence_number: number
  readonly response?: Kept
  readonly [field: string]: unknown
}
