/**
 * A language model that says what a script says, without a network.
 *
 * @module
 */

/** One answer of the model. */
export interface ScriptedTurn {
  /** The text. A list is streamed in these pieces, a text word by word. */
  readonly text?: string | readonly string[] | undefined
  /** The reasoning before the text. */
  readonly thinking?: string | undefined
  /** The tools that the model calls. An `id` that is left out is made of the place in the conversation. */
  readonly toolCalls?:
    | readonly { readonly name: string; readonly input?: unknown; readonly id?: string | undefined }[]
    | undefined
  /** The tokens that the call costs. Default: 10 in, 5 out. */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number } | undefined
  /** Default: `tool-calls` with tool calls, else `stop`. */
  readonly finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other' | undefined
  /**
   * The call fails with this, after the text if there is any. With a `status` of 429 or of 500 and above the AI SDK tries again. An
   * error of a list is told once: the next call gets the turn after it.
   */
  readonly error?: string | Error | { readonly message?: string; readonly status?: number } | undefined
  /** Milliseconds before the answer begins. Default: 0. */
  readonly delayMs?: number | undefined
}

/** A message that the model gets, in the AI SDK's form. */
export interface ScriptedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: unknown
}

/** What the model is asked. */
export interface ScriptedCall {
  /** All messages, oldest first. */
  readonly messages: readonly ScriptedMessage[]
  /** The tools that it may call. */
  readonly tools: readonly {
    readonly name: string
    readonly description?: string
    readonly inputSchema?: unknown
  }[]
  /** The text of the last message of the user. */
  readonly text: string
  /** The results of tools since then, in their order. */
  readonly results: readonly { readonly name: string; readonly output: unknown }[]
  /** How many calls the model had before, of any conversation. */
  readonly call: number
}

/** What a model says: a list of turns for a conversation, or a function that is asked each time. */
export type ModelScript =
  | readonly (string | ScriptedTurn)[]
  | ((call: ScriptedCall) => string | ScriptedTurn | Promise<string | ScriptedTurn>)

/** The options of a scripted model. */
export interface ScriptedModelOptions {
  /** The interface of the AI SDK: `v2` for `ai` 5, `v3` for `ai` 6 and 7. Default: `v3`. */
  readonly version?: 'v2' | 'v3'
  /** The name of the model. Default: `scripted`. */
  readonly modelId?: string
}

/** A model for `ModelAgent`, and for everything else that takes a model of the AI SDK. */
export interface ScriptedModel<Version extends 'v2' | 'v3' = 'v3'> {
  readonly specificationVersion: Version
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  /** The calls until now, oldest first: the newest 100. */
  readonly calls: readonly ScriptedCall[]
  doGenerate(asked: ModelRequest): Promise<Generated<Version>>
  doStream(asked: ModelRequest): Promise<{ stream: ReadableStream<Part<Version>> }>
}

/** What the AI SDK asks a model. */
interface ModelRequest {
  readonly prompt: readonly { readonly role: ScriptedMessage['role']; readonly content: unknown }[]
  readonly tools?: readonly { readonly name: string; readonly description?: string }[] | undefined
  readonly abortSignal?: AbortSignal | undefined
}

type Unified = NonNullable<ScriptedTurn['finishReason']>

type Finish<Version> = Version extends 'v2' ? Unified : { unified: Unified; raw: string | undefined }

type Tokens<Version> = Version extends 'v2'
  ? { inputTokens: number; outputTokens: number; totalTokens: number }
  : {
      inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: number }
      outputTokens: { total: number; text: number; reasoning: number }
    }

type Content =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }

interface Generated<Version> {
  content: Content[]
  finishReason: Finish<Version>
  usage: Tokens<Version>
  warnings: []
}

type Part<Version> =
  | { type: 'stream-start'; warnings: [] }
  | { type: `${'text' | 'reasoning'}-${'start' | 'end'}`; id: string }
  | { type: `${'text' | 'reasoning'}-delta`; id: string; delta: string }
  | Extract<Content, { type: 'tool-call' }>
  | { type: 'error'; error: unknown }
  | { type: 'finish'; finishReason: Finish<Version>; usage: Tokens<Version> }

/** Most calls that a model remembers. */
const MAX_CALLS = 100

/**
 * Makes a model of a script. It keeps nothing of a conversation. Of a list it says the turn whose place is the number of the model's
 * answers in the prompt: each conversation plays the list from its beginning, and so does a run whose process died. A function is
 * asked each time. A list that has ended fails the run with a text that says so.
 *
 * @example
 * const model = scriptedModel([{ toolCalls: [{ name: 'forecast', input: { city: 'Oslo' } }] }, 'It will be clear.'])
 */
export function scriptedModel(
  script: ModelScript,
  options: ScriptedModelOptions & { readonly version: 'v2' },
): ScriptedModel<'v2'>
export function scriptedModel(
  script: ModelScript,
  options?: ScriptedModelOptions & { readonly version?: 'v3' },
): ScriptedModel<'v3'>
export function scriptedModel<Version extends 'v2' | 'v3'>(
  script: ModelScript,
  { version, modelId = 'scripted' }: ScriptedModelOptions & { readonly version?: Version } = {},
): ScriptedModel<Version> {
  const isOld = version === 'v2'
  const calls: ScriptedCall[] = []
  const turns = typeof script === 'function' ? undefined : turnsOf(script)
  let count = 0
  const answer = async ({ prompt, tools = [], abortSignal }: ModelRequest) => {
    const call: ScriptedCall = { messages: prompt, tools, ...saidIn(prompt), call: count++ }
    calls.push(call)
    if (calls.length > MAX_CALLS) calls.shift()
    const place = prompt.filter(({ role }) => role === 'assistant').length
    const said = typeof script === 'function' ? await script(call) : turns?.(place)
    const turn = typeof said === 'string' ? { text: said } : (said ?? {})
    await delayed(turn.delayMs, abortSignal)
    return toAnswer(turn, place)
  }
  const usageOf = (turn: ScriptedTurn) => tokensOf(turn, isOld) as Tokens<Version>
  const finishOf = (turn: ScriptedTurn) => {
    const unified = turn.finishReason ?? (turn.toolCalls?.length ? 'tool-calls' : 'stop')
    return (isOld ? unified : { unified, raw: undefined }) as Finish<Version>
  }
  return {
    specificationVersion: (version ?? 'v3') as Version,
    provider: 'scripted',
    modelId,
    supportedUrls: {},
    calls,
    async doGenerate(asked) {
      const { turn, content, error } = await answer(asked)
      if (error !== undefined) throw error
      return { content, finishReason: finishOf(turn), usage: usageOf(turn), warnings: [] }
    },
    async doStream(asked) {
      const { turn, content, error } = await answer(asked)
      if (error !== undefined && content.length === 0) throw error
      const last: Part<Version> =
        error === undefined
          ? { type: 'finish', finishReason: finishOf(turn), usage: usageOf(turn) }
          : { type: 'error', error }
      const parts: Part<Version>[] = [
        { type: 'stream-start', warnings: [] },
        ...content.flatMap((each, place) => partsOf<Version>(each, `${place}`, turn)),
        last,
      ]
      return { stream: streamOf(parts) }
    },
  }
}

/** Finds the turn of a place. An error is told once, before the turn after it. */
function turnsOf(script: readonly (string | ScriptedTurn)[]): (place: number) => string | ScriptedTurn {
  const told = new Set<ScriptedTurn>()
  const answers = script.filter(turn => !isFailure(turn)).length
  const last = script.at(-1)
  return place => {
    let before = 0
    for (const turn of script) {
      if (!isFailure(turn)) before++
      else if (before === place && !told.has(turn)) {
        told.add(turn)
        return turn
      }
      if (before > place) return turn
    }
    if (last !== undefined && isFailure(last)) return last
    const error = `The script of the model has ended: it has ${answers} answers, and this is the call for answer ${place + 1}`
    return { error }
  }
}

function isFailure(turn: string | ScriptedTurn): turn is ScriptedTurn {
  return typeof turn === 'object' && turn.error !== undefined
}

/** The last text of the user, and the results of tools since then. */
function saidIn(prompt: ModelRequest['prompt']): Pick<ScriptedCall, 'text' | 'results'> {
  const last = prompt.findLastIndex(({ role }) => role === 'user')
  const results = prompt
    .slice(last + 1)
    .flatMap(({ role, content }) =>
      role !== 'tool'
        ? []
        : partsIn(content).flatMap(({ type, toolName, output }) =>
            type === 'tool-result' ? [{ name: String(toolName), output: valueIn(output) }] : [],
          ),
    )
  const text = partsIn(prompt[last]?.content).map(part => (part.type === 'text' ? String(part.text) : ''))
  return { text: text.join(''), results }
}

function partsIn(content: unknown): Readonly<Record<string, unknown>>[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.map(Object) : []
}

/** The value of a tool's output: `{ type: 'json', value }`, or what an older or other sender wrote. */
function valueIn(output: unknown): unknown {
  const { value = output } = Object(output) as { readonly value?: unknown }
  return value
}

interface Said {
  readonly turn: ScriptedTurn
  readonly content: Content[]
  readonly error: Error | undefined
}

function toAnswer(turn: ScriptedTurn, place: number): Said {
  const { thinking = '', text = '', toolCalls = [], error } = turn
  const whole = typeof text === 'string' ? text : text.join('')
  const content: Content[] = [
    ...(thinking === '' ? [] : [{ type: 'reasoning', text: thinking } as const]),
    ...(whole === '' ? [] : [{ type: 'text', text: whole } as const]),
    ...toolCalls.map(({ name, input = {}, id = '' }, index) => ({
      type: 'tool-call' as const,
      toolCallId: id || `call_${place}_${index}`,
      toolName: name,
      input: JSON.stringify(input),
    })),
  ]
  return { turn, content, error: error === undefined ? undefined : toError(error) }
}

function toError(error: NonNullable<ScriptedTurn['error']>): Error {
  if (error instanceof Error) return error
  const { message, status } = typeof error === 'string' ? { message: error, status: undefined } : error
  const made = new Error(message ?? `The model answered ${status}`)
  if (status === undefined) return made
  // As the AI SDK knows the errors of providers, whichever copy of it is installed.
  const name = 'AI_APICallError'
  const marker = `vercel.ai.error.${name}`
  return Object.assign(made, {
    name,
    statusCode: status,
    isRetryable: status === 429 || status >= 500,
    url: 'scripted:',
    requestBodyValues: {},
    [Symbol.for('vercel.ai.error')]: true,
    [Symbol.for(marker)]: true,
  })
}

function tokensOf({ usage }: ScriptedTurn, isOld: boolean): Tokens<'v2' | 'v3'> {
  const { inputTokens, outputTokens } = usage ?? { inputTokens: 10, outputTokens: 5 }
  if (isOld) return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
  }
}

function partsOf<Version>(content: Content, id: string, { text }: ScriptedTurn): Part<Version>[] {
  if (content.type === 'tool-call') return [content]
  const { type } = content
  const isCut = type === 'text' && typeof text === 'object'
  const pieces = isCut ? text : (content.text.match(/\S+\s*|\s+/g) ?? [])
  return [
    { type: `${type}-start`, id },
    ...pieces.map(delta => ({ type: `${type}-delta` as const, id, delta })),
    { type: `${type}-end`, id },
  ]
}

/** Gives a part each time that the reader wants one. */
function streamOf<T>(parts: readonly T[]): ReadableStream<T> {
  let at = 0
  return new ReadableStream<T>({
    pull(controller) {
      const part = parts[at++]
      if (part === undefined) controller.close()
      else controller.enqueue(part)
    },
  })
}

/** Waits, unless the caller leaves. */
function delayed(ms = 0, signal?: AbortSignal): Promise<void> | undefined {
  if (ms <= 0) return undefined
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }, ms)
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  })
}
