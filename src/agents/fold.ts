/**
 * Folds the events of a run into its result.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type {
  Artifact,
  ArtifactEvent,
  ContentPart,
  FinishEvent,
  FinishReason,
  MessageEvent,
  RunEvent,
  RunResult,
  Step,
  StepEvent,
  ToolCall,
  Usage,
} from './contract.ts'
import { NO_USAGE } from './usage.ts'

/** What a result needs beyond the events. */
export interface RunFacts {
  readonly runId: string
  /** Milliseconds from the start of the run to its end. */
  readonly durationMs: number
}

/**
 * Collects events and returns the result at the end. `maxLength` limits the characters of text, tool calls and artifacts that are
 * held (default 32 Mi); past it `add` throws `run_too_large`.
 */
export class Fold {
  readonly #maxLength: number
  #length = 0
  #text = ''
  #finish: FinishEvent | undefined
  #calls: Map<string, Call> | undefined
  #steps: Step[] | undefined
  #artifacts: Map<string, Gathered> | undefined
  #firstTextMs: number | undefined
  #firstModel: string | undefined

  constructor(maxLength: number = 32 * 1024 * 1024) {
    this.#maxLength = maxLength
  }

  /** The text of the answer until now. */
  get text(): string {
    return this.#text
  }

  /** Milliseconds until the first text or message, from the `at` of its event. */
  get firstTextMs(): number | undefined {
    return this.#firstTextMs
  }

  /** The model of the first model call that names one: `provider/id`. */
  get firstModel(): string | undefined {
    return this.#firstModel
  }

  /** The number of tool calls. */
  get calls(): number {
    return this.#calls?.size ?? 0
  }

  /** The usage from the finish event. */
  get usage(): Usage | undefined {
    return this.#finish?.usage
  }

  /** Adds one event. */
  add(event: RunEvent): void {
    switch (event.type) {
      case 'text':
        this.#firstTextMs ??= event.at
        this.#grow(event.text.length)
        this.#text += event.text
        return
      case 'message':
        this.#firstTextMs ??= event.at
        for (const part of event.parts) if (part.type === 'text') this.add(part)
        return
      case 'tool_call_start':
      case 'tool_call_delta':
      case 'tool_call_ready':
      case 'tool_call_end':
        this.#addToolEvent(event)
        return
      case 'step':
        this.#addStep(event)
        return
      case 'artifact':
        this.#addArtifact(event)
        return
      case 'resumed':
        this.#beginAgain()
        return
      case 'finish':
        this.#finish = event
        return
      case 'model_call':
        this.#firstModel ??= event.model
        return
      case 'thinking':
      case 'steered':
      case 'checkpoint':
      case 'graph_message':
      case 'error':
    }
  }

  /** Returns the result of the added events. A run without a finish counts as finished with `stop`. */
  result(facts: RunFacts): RunResult {
    const reason: FinishReason = this.#finish?.finishReason ?? 'stop'
    return {
      text: this.#text,
      toolCalls: this.#calls === undefined ? [] : Array.from(this.#calls, toToolCall),
      usage: this.#finish?.usage ?? NO_USAGE,
      structured: this.#finish?.structured ?? null,
      durationMs: facts.durationMs,
      finishReason: reason,
      runId: facts.runId,
      ...(this.#steps && { steps: this.#steps }),
      ...(this.#artifacts && { artifacts: Array.from(this.#artifacts.values(), toArtifact) }),
      ...(this.#finish?.steeredInto && { steeredInto: this.#finish.steeredInto }),
      ...(this.#finish?.requests && { requests: this.#finish.requests }),
      ...(this.#finish?.message !== undefined && { message: this.#finish.message }),
    }
  }

  /** Starts again after `resumed`: the text and the calls without an end will come again. */
  #beginAgain(): void {
    this.#length -= this.#text.length
    this.#text = ''
    for (const [id, call] of this.#calls ?? []) {
      if (!('result' in call) && call.error === undefined) this.#calls?.delete(id)
    }
  }

  #grow(by: number): void {
    this.#length += by
    if (this.#length > this.#maxLength) {
      throw new ServableError(
        'run_too_large',
        `The run's answer is larger than ${this.#maxLength} characters`,
      )
    }
  }

  #addToolEvent(event: Extract<RunEvent, { type: `tool_call_${string}` }>): void {
    this.#calls ??= new Map()
    if (event.type === 'tool_call_start') {
      this.#grow(event.toolCall.name.length)
      const { toolCall, agent } = event
      this.#calls.set(toolCall.id, { name: toolCall.name, args: '', ...(isText(agent) && { agent }) })
      return
    }
    const call = this.#calls.get(event.toolCallId)
    if (call === undefined) return
    if (event.type === 'tool_call_ready') {
      // The deltas have given the arguments already.
      if (call.args !== '' || event.args === undefined) return
      this.#grow(lengthOf(event.args))
      call.ready = event.args
    } else if (event.type === 'tool_call_delta') {
      this.#grow(event.argumentsDelta.length)
      call.args += event.argumentsDelta
    } else if (event.error === undefined) {
      this.#grow(lengthOf(event.result))
      call.result = event.result ?? null
    } else call.error = event.error
  }

  #addStep(event: StepEvent): void {
    if (event.status !== 'completed' && event.status !== 'failed') return
    this.#grow(event.name.length)
    this.#steps ??= []
    this.#steps.push({ name: event.name, status: event.status, durationMs: event.durationMs ?? 0 })
  }

  #addArtifact(event: ArtifactEvent): void {
    this.#grow(event.parts.reduce((length, part) => length + sizeOf(part), 0))
    this.#artifacts ??= new Map()
    const { artifactId, name, description, metadata, extensions, parts } = event
    const before = event.append === true ? this.#artifacts.get(artifactId) : undefined
    if (before === undefined) {
      const facts = {
        ...(description !== undefined && { description }),
        ...(metadata && { metadata }),
        ...(extensions && { extensions }),
      }
      this.#artifacts.set(artifactId, { artifactId, name, ...facts, parts: [...parts] })
      return
    }
    // Append in place, without a copy: an artifact may come in any number of chunks.
    before.name = name ?? before.name
    for (const part of parts) before.parts.push(part)
  }
}

/** An artifact whose chunks are being joined. */
interface Gathered extends Omit<Artifact, 'name' | 'parts'> {
  name: string | undefined
  readonly parts: ContentPart[]
}

/** A tool call whose events are being read. */
interface Call {
  readonly name: string
  args: string
  /** The arguments, if they came whole. */
  ready?: unknown
  readonly agent?: string
  result?: unknown
  error?: string | undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** The length of a value: a text's own characters, else those of its JSON. */
function lengthOf(result: unknown): number {
  if (typeof result === 'string') return result.length
  try {
    return JSON.stringify(result)?.length ?? 0
  } catch (cause) {
    throw new ServableError('invalid_event', 'A value of the run cannot be written as JSON', { cause })
  }
}

function sizeOf(part: ContentPart): number {
  if (part.type === 'text') return part.text.length
  return lengthOf(part.data)
}

function toArtifact({ parts, ...artifact }: Gathered): Artifact {
  return { ...artifact, parts: [...parts] }
}

function toToolCall([toolCallId, call]: [string, Call]): ToolCall {
  const { name, args: text, ready, ...outcome } = call
  const args = text === '' ? ready : parseArgs(text)
  return { toolCallId, toolName: name, ...(args !== undefined && { args }), ...outcome }
}

/** Returns the arguments parsed as JSON, or the text itself if it is not JSON. */
export function parseArgs(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the finish event's message as a message event, for protocols without a field for it. */
export function endMessageOf({ message }: FinishEvent): MessageEvent | undefined {
  if (message === undefined || message.length === 0) return undefined
  return { type: 'message', parts: typeof message === 'string' ? [{ type: 'text', text: message }] : message }
}
