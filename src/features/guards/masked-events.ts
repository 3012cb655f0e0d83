/**
 * Replaces patterns in the events of a run: in every text that a client may get.
 *
 * @module
 */

import type {
  ArtifactEvent,
  ContentPart,
  EventFacts,
  FinishEvent,
  MessageEvent,
  RunEvent,
  StepEvent,
} from '../../agents/contract.ts'
import { isRunEvent } from '../../agents/event.ts'
import { ServableError } from '../../base/errors.ts'
import type { OutputStage } from './guarded-events.ts'
import { type Masks, Scanner } from './scanner.ts'
import { changeInput, changeJsonText, changeMembers, changeParts } from './texts.ts'

/** Most open texts. Above it the oldest one is emitted to its end. */
const MAX_OPEN = 1000

type ToolEvent = Extract<RunEvent, { type: `tool_call_${string}` }>
type Facts = Pick<EventFacts, 'agent' | 'parentId'>

/** A text that arrives in pieces. */
interface OpenText {
  readonly scanner: Scanner
  /** The step or call that contains it. */
  readonly container: string | undefined
  /** Makes the event for a part of it. */
  readonly toEvent: (text: string) => RunEvent
}

/** Arguments that arrive in pieces. They are emitted once they are complete, since a part of JSON cannot be changed. */
interface OpenArgs {
  readonly facts: Facts
  pieces: string
}

/** How much is held back. */
interface Bounds {
  /** Characters after which a match cannot begin earlier. */
  readonly holdback: number
  /** Most characters of the arguments of open calls. */
  readonly maxLength: number
}

/** Masks the events of one run. */
export class MaskedEvents implements OutputStage {
  readonly #masks: Masks
  readonly #bounds: Bounds
  readonly #texts = new Map<string, OpenText>()
  readonly #args = new Map<string, OpenArgs>()
  #argsLength = 0

  constructor(masks: Masks, bounds: Bounds) {
    this.#masks = masks
    this.#bounds = bounds
  }

  take(event: RunEvent): readonly RunEvent[] {
    // A value that is not an event fails the run.
    if (!isRunEvent(event)) return [event]
    switch (event.type) {
      case 'text':
      case 'thinking':
        return this.#addText(`${event.type} ${keyOf(event)}`, event.text, {
          container: event.parentId,
          toEvent: text => ({ ...this.#rest(event), text }),
        })
      case 'model_call':
      case 'resumed':
      case 'steered':
      case 'checkpoint':
      case 'graph_message':
        return [this.#rest(event)]
      case 'message':
        return [...this.#breakAt(event), this.#message(event)]
      case 'step':
        return this.#step(event)
      case 'artifact':
        return [this.#artifact(event)]
      case 'finish':
        return [...this.end(), this.#finish(event)]
      case 'error':
        return [...this.end(), this.#rest(event)]
      default:
        return [...this.#breakAt(event), ...this.#tool(event)]
    }
  }

  end(): readonly RunEvent[] {
    const texts = [...this.#texts.keys()].flatMap(key => this.#close(key))
    return [...texts, ...[...this.#args.keys()].flatMap(id => this.#ready(id))]
  }

  fail(message: string): string {
    return this.#masks.mask(message)
  }

  /** Adds a piece to a text. */
  #addText(key: string, piece: string, open: Omit<OpenText, 'scanner'>): readonly RunEvent[] {
    const spilt = this.#open(key, open)
    const masked = this.#texts.get(key)?.scanner.push(piece) ?? ''
    return masked === '' ? spilt : [...spilt, open.toEvent(masked)]
  }

  /** Opens or continues a text. Returns the rest of another text that was closed to make room. */
  #open(key: string, open: Omit<OpenText, 'scanner'>): readonly RunEvent[] {
    const before = this.#texts.get(key)
    const spilt = before === undefined && this.#texts.size >= MAX_OPEN ? this.#spill() : []
    const scanner = before?.scanner ?? new Scanner(this.#masks, this.#bounds.holdback)
    this.#texts.set(key, { ...open, scanner })
    return spilt
  }

  #spill(): readonly RunEvent[] {
    for (const key of this.#texts.keys()) return this.#close(key)
    return []
  }

  /** Emits a text to its end, and closes it. */
  #close(key: string): readonly RunEvent[] {
    const masked = this.#break(key)
    this.#texts.delete(key)
    return masked
  }

  /** Closes all texts in a step or call. */
  #closeIn(container: string | undefined): readonly RunEvent[] {
    if (container === undefined) return []
    const keys = [...this.#texts].flatMap(([key, open]) => (open.container === container ? [key] : []))
    return keys.flatMap(key => this.#close(key))
  }

  /** Emits all of a text, which may continue. */
  #break(key: string): readonly RunEvent[] {
    const open = this.#texts.get(key)
    const masked = open?.scanner.push('', true) ?? ''
    return open === undefined || masked === '' ? [] : [open.toEvent(masked)]
  }

  /** Emits all pending text of an agent before its next action. */
  #breakAt(facts: Facts): readonly RunEvent[] {
    const key = keyOf(facts)
    return [...this.#break(`thinking ${key}`), ...this.#break(`text ${key}`)]
  }

  #tool(event: ToolEvent): readonly RunEvent[] {
    if (event.type === 'tool_call_start') return [this.#rest(event)]
    const { toolCallId: id } = event
    if (event.type === 'tool_call_ready') return [...this.#ready(id), this.#rest(event)]
    if (event.type === 'tool_call_end') return [...this.#closeIn(id), ...this.#ready(id), this.#rest(event)]
    const { argumentsDelta } = event
    const { maxLength } = this.#bounds
    this.#argsLength += argumentsDelta.length
    if (this.#argsLength > maxLength) {
      throw new ServableError(
        'run_too_large',
        `The arguments of the run's open tool calls are larger than ${maxLength} characters`,
      )
    }
    const open = this.#args.get(id)
    if (open === undefined) this.#args.set(id, { pieces: argumentsDelta, facts: factsOf(event) })
    else open.pieces += argumentsDelta
    return []
  }

  /** The complete arguments of a call. */
  #ready(id: string): readonly RunEvent[] {
    const open = this.#args.get(id)
    if (open === undefined) return []
    this.#args.delete(id)
    this.#argsLength -= open.pieces.length
    if (open.pieces === '') return []
    const argumentsDelta = isJson(open.pieces)
      ? changeJsonText(open.pieces, this.#masks.mask)
      : this.#masks.mask(open.pieces)
    return [{ type: 'tool_call_delta', toolCallId: id, argumentsDelta, ...open.facts }]
  }

  #message(event: MessageEvent & Facts): RunEvent {
    const key = `text ${keyOf(event)}`
    const facts = factsOf(event)
    this.#open(key, { container: event.parentId, toEvent: text => ({ type: 'text', text, ...facts }) })
    // It is a text of its own, after which the earlier text continues.
    const own = partsBy(new Scanner(this.#masks, this.#bounds.holdback), event.parts, true)
    return { ...this.#rest(event), parts: this.#parts(key, own, true) }
  }

  #artifact(event: ArtifactEvent & Facts): RunEvent {
    const { artifactId, append = false, lastChunk = !append, parts } = event
    const key = `artifact ${artifactId}`
    const facts = { ...factsOf(event), artifactId, append: true }
    if (!append) this.#texts.delete(key)
    this.#open(key, {
      container: undefined,
      toEvent: text => ({ type: 'artifact', ...facts, parts: [{ type: 'text', text }] }),
    })
    const masked = this.#rest(changeMembers(event, name => name === 'name', this.#masks.mask))
    return { ...masked, parts: this.#parts(key, parts, lastChunk) }
  }

  /** Masks parts, whose texts continue the text of that key. With `isBreak` all of it is emitted. */
  #parts(key: string, parts: readonly ContentPart[], isBreak: boolean): readonly ContentPart[] {
    const scanner = this.#texts.get(key)?.scanner
    const changed = changeParts(parts, this.#masks.mask)
    const masked = scanner === undefined ? parts : partsBy(scanner, parts, isBreak)
    return changed.map((part, index) => {
      const text = masked[index]
      return part.type === 'text' && text?.type === 'text' ? { ...part, text: text.text } : part
    })
  }

  #step(event: StepEvent & Facts): readonly RunEvent[] {
    const { id, name, status, text } = event
    const container = id ?? name
    if (status === 'progress' && text !== undefined) {
      return this.#addText(`step ${container} ${event.agent ?? ''}`, text, {
        container,
        toEvent: piece => ({ ...this.#rest(event), text: piece }),
      })
    }
    const masked = changeMembers(this.#rest(event), member => member === 'text', this.#masks.mask)
    if (status === 'progress') return [masked]
    return [...this.#breakAt(event), ...this.#closeIn(container), masked]
  }

  #finish(event: FinishEvent): RunEvent {
    const { mask } = this.#masks
    const { message, requests } = event
    return {
      ...this.#rest(event),
      ...(message !== undefined && { message: changeInput(message, mask) }),
      ...(requests && {
        requests: requests.map(request => changeMembers(request, name => !OF_REQUEST.has(name), mask)),
      }),
    }
  }

  /** Masks all members except streamed texts and facts about the run. Returns the same object if nothing changes. */
  #rest<E extends RunEvent>(event: E): E {
    return changeMembers(event, name => !KEPT.has(name), this.#masks.mask)
  }
}

/** Members of events that stay unchanged, or are changed separately. */
const KEPT: ReadonlySet<string> = new Set([
  ...[
    'type',
    'at',
    'agent',
    'parentId',
    'id',
    'toolCallId',
    'toolCall',
    'isClientTool',
    'artifactId',
    'name',
  ],
  ...['status', 'index', 'durationMs', 'model', 'usage', 'finishReason', 'code', 'append', 'lastChunk'],
  ...['text', 'parts', 'argumentsDelta', 'message', 'requests', 'extensions'],
])

/** Members of requests that stay unchanged. */
const OF_REQUEST: ReadonlySet<string> = new Set([
  'id',
  'kind',
  'toolCallId',
  'toolName',
  'digest',
  'editable',
])

/** Replaces the texts of parts by that of the scanner. If nothing is replaced, each part keeps its own. */
function partsBy(scanner: Scanner, parts: readonly ContentPart[], isBreak: boolean): readonly ContentPart[] {
  const masked = parts.map((part, index) => {
    if (part.type !== 'text') return part
    const next = parts[index + 1]
    return { ...part, text: scanner.push(part.text, next === undefined ? isBreak : next.type !== 'text') }
  })
  return textsOf(masked) === textsOf(parts) ? parts : masked
}

function textsOf(parts: readonly ContentPart[]): string {
  return parts.map(part => (part.type === 'text' ? part.text : '')).join('')
}

function keyOf({ agent = '', parentId = '' }: Facts): string {
  return `${parentId} ${agent}`
}

function factsOf({ agent, parentId }: Facts): Facts {
  return { ...(agent !== undefined && { agent }), ...(parentId !== undefined && { parentId }) }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
