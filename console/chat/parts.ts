/**
 * The answer of a run as one list of parts, in the order in which they happened.
 *
 * @module
 */

import type { ContentPart, InputRequest, StepEvent, Usage } from '../../src/agents/contract.ts'
import { endMessageOf } from '../../src/agents/fold.ts'
import { steeredEvent } from '../../src/agents/turn.ts'
import type { RunEvent, TurnPage } from '../../src/client/index.ts'

/** The common members of parts. */
interface Of<Kind extends string> {
  readonly kind: Kind
  /** Distinguishes the parts of one answer. */
  readonly key: number
  /** The member of a team or the agent of a workflow that it comes from. */
  readonly agent?: string | undefined
}

/** A call of a tool. */
export interface ToolPart extends Of<'tool'> {
  readonly id: string
  readonly name: string
  /** The text of the arguments while they arrive. */
  readonly argsText: string
  readonly args?: unknown
  readonly result?: unknown
  readonly error?: string | undefined
  readonly code?: string | undefined
  readonly startedAt?: number | undefined
  readonly durationMs?: number | undefined
  readonly isDone: boolean
}

/** A step of a workflow, or a member's turn in a team. */
export interface StepPart extends Of<'step'> {
  readonly id: string
  readonly name: string
  readonly status: StepEvent['status']
  readonly text: string
  readonly durationMs?: number | undefined
  readonly error?: string | undefined
}

/** A file that the run made. */
export interface ArtifactPart extends Of<'artifact'> {
  readonly artifactId: string
  readonly name?: string | undefined
  readonly parts: readonly ContentPart[]
}

export type Part =
  | (Of<'text' | 'reasoning'> & { readonly text: string })
  | ToolPart
  | StepPart
  | ArtifactPart
  | (Of<'message'> & { readonly parts: readonly ContentPart[] })
  | (Of<'structured'> & { readonly value: object })

/** The status of an answer. */
export type AnswerStatus = 'queued' | 'running' | 'completed' | 'input_required' | 'failed' | 'cancelled'

/** The answer of a run. */
export interface Answer {
  readonly parts: readonly Part[]
  readonly status: AnswerStatus
  readonly runId?: string | undefined
  /** The requests that the run waits for. */
  readonly requests: readonly InputRequest[]
  readonly error?: { readonly message: string; readonly code: string | undefined } | undefined
  readonly usage?: Usage | undefined
  /** The ids of the messages that the run has taken while it was running. */
  readonly steered?: readonly string[]
  /** The duration of the run in milliseconds. */
  readonly durationMs?: number | undefined
  /** The key of the next part. */
  readonly next: number
}

export const NEW_ANSWER: Answer = { parts: [], status: 'running', requests: [], next: 0 }

/** The answer after more events. */
export function fold(answer: Answer, events: readonly RunEvent[]): Answer {
  const folding = new Folding(answer)
  for (const event of events) folding.take(event)
  return folding.answer
}

/**
 * The answer of a turn of a session. It has the names of the tools, but no other data of their calls. The turn does not tell
 * between which of them a message came.
 */
export function answerOf(turn: TurnPage['turns'][number]): Answer {
  const calls = turn.toolCalls ?? []
  const events: RunEvent[] = calls.flatMap(({ toolCallId: id, toolName: name }) => [
    { type: 'tool_call_start', toolCall: { id, name } },
    { type: 'tool_call_end', toolCallId: id },
  ])
  events.push(...(turn.steered ?? []).map(steeredEvent))
  if (turn.text) events.push({ type: 'text', text: turn.text })
  if (turn.status === 'completed' || turn.status === 'cut')
    events.push({ type: 'finish', finishReason: turn.finishReason ?? 'cancelled' })
  if (turn.error) events.push({ type: 'error', error: 'The run failed.', code: turn.error })
  if (turn.status === 'interrupted')
    events.push({ type: 'error', error: 'The run was interrupted.', code: 'interrupted' })
  return { ...fold(NEW_ANSWER, events), runId: turn.runId }
}

/** A waiting answer: its requested calls have not ended. */
export function waitingFor(answer: Answer, requests: readonly InputRequest[]): Answer {
  const asked = new Set(requests.map(({ toolCallId }) => toolCallId))
  const parts = answer.parts.map(part =>
    part.kind === 'tool' && asked.has(part.id) ? { ...part, isDone: false } : part,
  )
  return { ...answer, parts, requests }
}

/** The answer of a run that waited, joined with that of the run that continued. Both have the call that waited. */
export function continued(before: Answer, after: Answer): Answer {
  const again = new Set(after.parts.flatMap(part => (part.kind === 'tool' ? [part.id] : [])))
  const kept = before.parts.filter(part => part.kind !== 'tool' || !again.has(part.id))
  const parts = [...kept, ...after.parts].map((part, key) => ({ ...part, key }))
  return { ...after, parts, next: parts.length }
}

/** The same answer while the continuing run is running. Its times begin anew. */
export function goingOn(answer: Answer, runId: string): Answer {
  const parts = answer.parts.map(part => (part.kind === 'tool' ? { ...part, startedAt: undefined } : part))
  return { ...answer, parts, runId, status: 'running', requests: [], error: undefined }
}

/** The number of tool calls in an answer. */
export function toolCallsIn({ parts }: Answer): number {
  return parts.filter(({ kind }) => kind === 'tool').length
}

/** Whether a part is kept when a run resumes: only complete parts are. */
const isComplete = (part: Part) =>
  part.kind === 'tool' ? part.isDone : part.kind === 'step' ? !isAtWork(part) : part.kind === 'artifact'

const isAtWork = ({ status }: StepPart) => status === 'started' || status === 'progress'

class Folding {
  #parts: Part[]
  #answer: Answer
  #next: number

  constructor(answer: Answer) {
    this.#parts = [...answer.parts]
    this.#answer = answer
    this.#next = answer.next
  }

  get answer(): Answer {
    return { ...this.#answer, parts: this.#parts, next: this.#next }
  }

  take(event: RunEvent): void {
    if (event.at !== undefined) this.#answer = { ...this.#answer, durationMs: event.at }
    switch (event.type) {
      case 'text':
        return this.#addText('text', event.text, event.agent)
      case 'thinking':
        return this.#addText('reasoning', event.text, event.agent)
      case 'step':
        return this.#step(event)
      case 'artifact':
        return this.#artifact(event)
      case 'message':
        return this.#add({ kind: 'message', agent: event.agent, parts: event.parts })
      case 'resumed':
        this.#parts = this.#parts.filter(isComplete)
        return
      case 'finish':
      case 'error':
        return this.#end(event)
      case 'model_call':
      case 'checkpoint':
      case 'graph_message':
        return
      case 'steered':
        this.#answer = { ...this.#answer, steered: [...(this.#answer.steered ?? []), event.messageId] }
        return this.#add({ kind: 'message', agent: 'you', parts: event.parts })
      default:
        return this.#tool(event)
    }
  }

  #add(part: Unnumbered): void {
    this.#parts.push({ ...part, key: this.#next++ } as Part)
  }

  /** Changes the last matching part of a kind. Returns whether there is one. */
  #change<Kind extends Part['kind']>(
    kind: Kind,
    fits: (part: Extract<Part, { kind: Kind }>) => boolean,
    change: (part: Extract<Part, { kind: Kind }>) => Partial<Extract<Part, { kind: Kind }>>,
  ): boolean {
    const isIt = (part: Part) => part.kind === kind && fits(part as Extract<Part, { kind: Kind }>)
    const index = this.#parts.findLastIndex(isIt)
    if (index === -1) return false
    const part = this.#parts[index] as Extract<Part, { kind: Kind }>
    this.#parts[index] = { ...part, ...change(part) }
    return true
  }

  #addText(kind: 'text' | 'reasoning', text: string, agent: string | undefined): void {
    const last = this.#parts.at(-1)
    if (last?.kind === kind && last.agent === agent) {
      this.#parts[this.#parts.length - 1] = { ...last, text: last.text + text }
    } else this.#add({ kind, agent, text })
  }

  #tool(event: Extract<RunEvent, { type: `tool_call_${string}` }>): void {
    if (event.type === 'tool_call_start') {
      const { id, name } = event.toolCall
      const { agent, at: startedAt } = event
      // A run that continues begins the call again that it waited for.
      const again = () => ({ argsText: '', startedAt })
      const isKnown = this.#change('tool', part => part.id === id && !part.isDone, again)
      if (!isKnown) this.#add({ kind: 'tool', id, name, agent, argsText: '', startedAt, isDone: false })
      return
    }
    this.#change(
      'tool',
      ({ id }) => id === event.toolCallId,
      part => {
        if (event.type === 'tool_call_delta') return { argsText: part.argsText + event.argumentsDelta }
        if (event.type === 'tool_call_ready') return { args: event.args }
        const { result, error, code, at = Number.NaN } = event
        const tookMs = at - (part.startedAt ?? Number.NaN)
        return { result, error, code, isDone: true, durationMs: tookMs >= 0 ? tookMs : undefined }
      },
    )
  }

  #step({
    id,
    name,
    status,
    text = '',
    durationMs,
    error,
    agent,
  }: StepEvent & { agent?: string | undefined }): void {
    const same = id ?? name
    const isKnown = this.#change(
      'step',
      part => part.id === same && isAtWork(part),
      part => ({
        status,
        text: part.text + text,
        durationMs,
        error,
      }),
    )
    if (!isKnown) this.#add({ kind: 'step', id: same, name, status, text, durationMs, error, agent })
  }

  #artifact({ artifactId, name, parts, append, agent }: Extract<RunEvent, { type: 'artifact' }>): void {
    const isKnown = this.#change(
      'artifact',
      part => part.artifactId === artifactId,
      part => ({
        name: name ?? part.name,
        parts: append ? joined(part.parts, parts) : parts,
      }),
    )
    if (!isKnown) this.#add({ kind: 'artifact', artifactId, name, parts, agent })
  }

  #end(event: Extract<RunEvent, { type: 'finish' | 'error' }>): void {
    if (event.type === 'error') {
      const { error: message, code } = event
      this.#answer = { ...this.#answer, status: 'failed', error: { message, code }, requests: [] }
      return
    }
    const { finishReason, structured, usage, requests = [] } = event
    if (structured) this.#add({ kind: 'structured', value: structured })
    const words = endMessageOf(event)
    if (words) this.#add({ kind: 'message', parts: words.parts })
    this.#answer = { ...this.#answer, status: statusOf(finishReason), usage, requests }
  }
}

/** A part without its key. */
type Unnumbered = Part extends infer Each ? (Each extends Part ? Omit<Each, 'key'> : never) : never

function statusOf(reason: Extract<RunEvent, { type: 'finish' }>['finishReason']): AnswerStatus {
  if (reason === 'cancelled') return 'cancelled'
  return reason === 'input_required' || reason === 'auth_required' ? 'input_required' : 'completed'
}

/** Chunks of one text are one text. */
function joined(before: readonly ContentPart[], after: readonly ContentPart[]): readonly ContentPart[] {
  const last = before.at(-1)
  const [first, ...rest] = after
  if (last?.type !== 'text' || first?.type !== 'text') return [...before, ...after]
  return [...before.slice(0, -1), { type: 'text', text: last.text + first.text }, ...rest]
}
