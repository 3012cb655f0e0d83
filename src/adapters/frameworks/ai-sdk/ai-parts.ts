/**
 * Turns the parts of an AI SDK stream into run events. VoltAgent yields the same parts, and Mastra similar ones.
 *
 * @module
 */

import type { ContentPart, FinishReason, RunEvent, RunResult, Usage } from '../../../agents/contract.ts'
import { withContents } from '../../../agents/model-calls.ts'
import { isServableError, messageOf, ServableError, withoutKeyText } from '../../../base/errors.ts'
import { modelCall, toFinishReason, toUsage } from '../ending.ts'
import { fieldsOf, numberIn, objectIn, textIn, type UnknownFields } from '../fields.ts'
import { keptContents } from '../kept-contents.ts'
import { ToolCalls } from '../tool-calls.ts'
import type { AgentQuestion, AgentRequest } from '../waits.ts'
import { KeptCalls } from './kept-calls.ts'

/** Facts that the parts do not have. */
export interface AiPartsOptions {
  /** The model, as `provider/id`. */
  readonly model?: string | undefined
  /** Returns the public name of a tool whose name in the model differs. */
  readonly nameOf?: (name: string) => string
  /** Whether what the model was sent and replied is kept. */
  readonly keepsCalls?: boolean
}

/** Parts that end a piece of the model's answer. What comes after the last of them is the work of tools. */
const ENDS: ReadonlySet<unknown> = new Set(['text-end', 'reasoning-end', 'tool-call'])

/** Reads the parts of one run, in order. Create it when the model is called: the durations of answers count from then. */
export class AiParts {
  readonly #calls: ToolCalls
  readonly #model: string | undefined
  /** When the model was called, and when it last ended a piece of its answer. */
  #askedAt = performance.now()
  #endedAt: number | undefined
  #usage: Usage | undefined
  #reason: FinishReason = 'stop'
  #waits = false
  readonly #asked = new Map<string, AgentRequest>()
  #structured: object | undefined
  /** What the model is sent and replies, where it is kept. */
  readonly kept: KeptCalls | undefined

  constructor({ model, nameOf, keepsCalls = false }: AiPartsOptions = {}) {
    this.#model = model
    if (keepsCalls) this.kept = new KeptCalls()
    this.#calls = new ToolCalls(nameOf)
  }

  /** The end of the run, from the parts read until now. */
  get outcome(): Partial<RunResult> {
    return {
      finishReason: this.#waits ? 'input_required' : this.#reason,
      ...(this.#usage && { usage: this.#usage }),
      ...(this.#structured && { structured: this.#structured }),
    }
  }

  /** The requests of the calls that wait. */
  get asked(): readonly AgentRequest[] {
    return [...this.#asked.values()]
  }

  /** The id of a tool call in the events. */
  idOf(toolCallId: string): string {
    return this.#calls.idOf(toolCallId)
  }

  /** Yields the events of one part. Parts without meaning for clients, and other values, yield nothing. */
  *read(part: unknown): Generator<RunEvent> {
    const fields = fieldsOf(part)
    const text = textIn(fields.text)
    if (ENDS.has(fields.type)) this.#endedAt = performance.now()
    this.kept?.see(fields)
    switch (fields.type) {
      case 'text-delta':
        if (text !== undefined) yield { type: 'text', text }
        return
      case 'reasoning-delta':
        if (text !== undefined) yield { type: 'thinking', text }
        return
      case 'file':
        yield* artifactOf(fieldsOf(fields.file))
        return
      case 'error':
        throw fields.error ?? new ServableError('provider_failed', 'The model failed without saying why')
      case 'abort':
        this.#reason = 'cancelled'
        return
      case 'tool-approval-request':
        this.#askFor(fields)
        return
      case 'object-result':
        this.#structured = objectIn(fields.object)
        return
      case 'finish-step':
        yield this.#modelCall(fields)
        return
      case 'finish':
        this.#finish(fields)
        return
      default:
        yield* this.#readTool(fields)
    }
  }

  /** Notes a request for an approval. Automatic requests are decided by the agent's own settings. */
  #askFor({ approvalId, toolCall, isAutomatic, question }: UnknownFields): void {
    if (isAutomatic === true) return
    this.#waits = true
    const { toolCallId, toolName, input: args } = fieldsOf(toolCall)
    const [key, id, name] = [textIn(approvalId), textIn(toolCallId), textIn(toolName)]
    if (key === undefined || id === undefined || name === undefined) return
    const call = { kind: 'approval', toolCallId: this.idOf(id), toolName: name, args } as const
    this.#asked.set(key, { key, ...call, ...(question as AgentQuestion | undefined) })
  }

  *#readTool(fields: UnknownFields): Generator<RunEvent> {
    const id = textIn(fields.toolCallId) ?? textIn(fields.id)
    if (id === undefined) return
    switch (fields.type) {
      case 'tool-input-start':
        yield* this.#calls.start(id, fields.toolName)
        return
      case 'tool-input-delta':
        yield* this.#calls.args(id, fields.delta)
        return
      case 'tool-call':
        yield* this.#calls.whole(id, fields.toolName, fields.input)
        return
      case 'tool-result':
        // A preliminary result would end the call too early.
        if (fields.preliminary === true) return
        this.#asked.delete(id)
        yield* this.#calls.end(id, { result: fields.output })
        return
      case 'tool-error':
        this.#asked.delete(id)
        yield* this.#calls.end(id, failed(fields.error), fields.error)
        return
      case 'tool-output-denied':
        yield* this.#calls.end(id, {
          error: textIn(fields.reason) ?? 'The call was not allowed',
          code: 'approval_denied',
        })
    }
  }

  /** Makes the event of one model call. Its duration excludes the tools'. */
  #modelCall({ model, usage, finishReason, performance: times }: UnknownFields): RunEvent {
    const now = performance.now()
    const durationMs = numberIn(fieldsOf(times).responseTimeMs) ?? (this.#endedAt ?? now) - this.#askedAt
    this.#askedAt = now
    this.#endedAt = undefined
    const event = modelCall({
      model: textIn(model) ?? this.#model,
      usage: toUsage(usage),
      finishReason: finishReason === 'error' ? undefined : finishReason,
      durationMs,
    })
    const contents = this.kept?.next(textIn(finishReason))
    return contents === undefined ? event : withContents(event, secrets => keptContents(contents, secrets))
  }

  #finish({ finishReason, totalUsage }: UnknownFields): void {
    // With `interrupted` the stream ended without a reason, so the answer may be incomplete.
    if (finishReason === 'error' || finishReason === 'interrupted') {
      throw new ServableError('provider_failed', 'The answer of the model broke off')
    }
    if (this.#reason !== 'cancelled') this.#reason = toFinishReason(finishReason)
    this.#usage = toUsage(totalUsage)
  }
}

function failed(error: unknown): { readonly error: string; readonly code?: string } {
  return { error: withoutKeyText(messageOf(error)), ...(isServableError(error) && { code: error.code }) }
}

/** Yields a file of the model as an artifact. Yields nothing unless the file has base64 and a media type. */
function* artifactOf(file: UnknownFields): Generator<RunEvent> {
  const [data, mimeType] = [textIn(file.base64), textIn(file.mediaType)]
  if (data === undefined || mimeType === undefined) return
  yield {
    type: 'artifact',
    artifactId: crypto.randomUUID(),
    parts: [toPart(data, mimeType)],
    lastChunk: true,
  }
}

function toPart(data: string, mimeType: string): ContentPart {
  const kind = mimeType.split('/', 1)[0]
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType }
  return { type: 'file', data, mimeType }
}
