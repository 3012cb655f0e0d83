/**
 * Translates the answers of a remote agent into the events of a run. It does no I/O.
 *
 * @module
 */

import type { Artifact, Message, TaskStatus } from '@a2a-js/sdk'
import type { ArtifactEvent, ContentPart, RunEvent, StepEvent } from '../../agents/contract.ts'
import { isObject } from '../../base/validation.ts'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../../web/json.ts'
import { EmittedText } from './emitted-text.ts'
import { unfit } from './failure.ts'
import { fromRemoteParts, textOfParts } from './parts.ts'
import type { Payload } from './service.ts'

/** The state in which a task no longer works, or `answered` for a message without a task. */
export type EndState =
  | 'answered'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'input-required'
  | 'auth-required'

/** The state of a task on which the remote agent no longer works. */
export interface RemoteEnd {
  readonly state: EndState
  /** The parts of the status message. */
  readonly parts: readonly ContentPart[]
  /** Distinguishes this status from a later one of the same state. */
  readonly mark: string
}

/** By artifact: how many characters of text, and how many other parts, earlier runs have emitted. */
export type EmittedArtifacts = Readonly<Record<string, readonly [characters: number, others: number]>>

/** What is known before the first answer of the remote agent. */
export interface TranslatorOptions {
  /** The name of the agent, which names its progress steps. */
  readonly name: string
  readonly taskId?: string | undefined
  readonly contextId?: string | undefined
  readonly emitted?: EmittedArtifacts | undefined
  /** The mark of the status whose requests have been answered. */
  readonly answered?: string | undefined
}

/** The states by their numbers in `a2a.proto`. A number that is not in the list is unknown. */
const STATES: readonly (EndState | 'working')[] = [
  'working',
  'working',
  'working',
  'completed',
  'failed',
  'canceled',
  'input-required',
  'rejected',
  'auth-required',
]

/** Most artifacts of a task. */
const MAX_ARTIFACTS = 1000

/** What was emitted of one artifact. */
interface EmittedArtifact {
  readonly text: EmittedText
  /** Parts other than text that were emitted. */
  others: number
  /** Parts other than text that the service has sent so far. */
  sent: number
  /** Whether this run has emitted a part of it. */
  isHere: boolean
}

/** Translates the answers that one run reads of a remote agent. Repeated content is emitted once. */
export class Translator {
  readonly #name: string
  readonly #answered: string | undefined
  readonly #artifacts = new Map<string, EmittedArtifact>()
  #taskId: string | undefined
  #contextId: string | undefined
  #end: RemoteEnd | undefined
  #hasAnswer = false
  #lastMark = ''

  constructor({ name, taskId, contextId, emitted = {}, answered }: TranslatorOptions) {
    this.#name = name
    this.#taskId = taskId
    this.#contextId = contextId
    this.#answered = answered
    for (const [id, [before, others]] of Object.entries(emitted)) {
      this.#artifacts.set(id, { text: new EmittedText(before), others, sent: others, isHere: false })
    }
  }

  get taskId(): string | undefined {
    return this.#taskId
  }

  /** The context that the service names, or the one that it was given. */
  get contextId(): string | undefined {
    return this.#contextId
  }

  /** The end of the task or answer. Undefined before it. */
  get end(): RemoteEnd | undefined {
    return this.#end
  }

  /** Whether text, an artifact or a message was emitted. */
  get hasAnswer(): boolean {
    return this.#hasAnswer
  }

  /** What was emitted of each artifact, for the run that continues. */
  get emitted(): EmittedArtifacts {
    const all = [...this.#artifacts].map(([id, { text, others }]) => [id, [text.length, others]] as const)
    return Object.fromEntries(all)
  }

  /** Sets the task that was found in another way. */
  adopt(taskId: string, contextId: string): void {
    this.#check(taskId, contextId)
  }

  /** Yields the events of an answer. Throws `invalid_agent_response` for an answer that A2A does not allow. */
  *see(payload: Payload): Generator<RunEvent> {
    checkSize(payload)
    switch (payload.$case) {
      case 'task': {
        const { id, contextId, artifacts, status } = payload.value
        this.#check(id, contextId)
        for (const artifact of artifacts) yield* this.#asItIs(artifact)
        return yield* this.#status(status, undefined)
      }
      case 'message':
        return yield* this.#message(payload.value)
      case 'artifactUpdate': {
        const { taskId, contextId, artifact, append, lastChunk } = payload.value
        this.#check(taskId, contextId)
        if (artifact === undefined) throw unfit('sent an update without its artifact')
        return yield* append ? this.#more(artifact, lastChunk) : this.#anew(artifact, lastChunk)
      }
      case 'statusUpdate': {
        const { taskId, contextId, status, metadata } = payload.value
        this.#check(taskId, contextId)
        return yield* this.#status(status, metadata)
      }
    }
  }

  /** Checks that all answers are of one task, in one context. */
  #check(taskId: string, contextId: string): void {
    if (this.#taskId !== undefined && taskId !== this.#taskId) {
      throw unfit('answered with another task than the one that it was asked about')
    }
    if (this.#taskId === undefined) {
      this.#taskId = checkId(taskId, 'a task')
      // The service may choose the context of a new task.
      if (contextId !== '') this.#contextId = checkId(contextId, 'a context')
    } else if (contextId !== '' && this.#contextId !== undefined && contextId !== this.#contextId) {
      throw unfit('answered with another context than that of the task')
    }
  }

  *#message({ parts, metadata, extensions, contextId }: Message): Generator<RunEvent> {
    if (this.#taskId !== undefined) throw unfit('answered with a message in the middle of a task')
    if (contextId !== '') this.#contextId = checkId(contextId, 'a context')
    yield { type: 'message', parts: fromRemoteParts(parts), ...factsOf({ metadata, extensions }) }
    this.#hasAnswer = true
    this.#end = { state: 'answered', parts: [], mark: '' }
  }

  *#status(status: TaskStatus | undefined, metadata: unknown): Generator<RunEvent> {
    const state = STATES[status?.state ?? -1]
    if (status === undefined || state === undefined) throw unfit('sent a task without a state that A2A knows')
    const { message, timestamp = '' } = status
    const parts = message === undefined ? [] : fromRemoteParts(message.parts)
    const mark = message?.messageId || timestamp
    if (state !== 'working') {
      // The service may repeat the answered status before it continues.
      if (mark !== '' && mark === this.#answered) return
      this.#end = { state, parts, mark }
      return
    }
    const step = stepIn(metadata)
    const text = textOfParts(parts)
    if (step !== undefined) return yield { ...step, ...(text !== '' && { text }) }
    if (text === '' || (mark !== '' && mark === this.#lastMark)) return
    this.#lastMark = mark
    yield { type: 'step', name: this.#name, status: 'progress', text }
  }

  #emittedOf(artifactId: string): EmittedArtifact {
    const id = checkId(artifactId, 'an artifact')
    const known = this.#artifacts.get(id)
    if (known !== undefined) return known
    if (this.#artifacts.size >= MAX_ARTIFACTS) throw unfit(`sent more than ${MAX_ARTIFACTS} artifacts`)
    const emitted = { text: new EmittedText(0), others: 0, sent: 0, isHere: false }
    this.#artifacts.set(id, emitted)
    return emitted
  }

  /** Yields what was not emitted of a whole artifact. */
  *#asItIs(artifact: Artifact): Generator<RunEvent> {
    const emitted = this.#emittedOf(artifact.artifactId)
    const { text, others } = split(artifact)
    yield* this.#text(emitted.text.replace(text))
    const news = others.slice(emitted.others)
    emitted.sent = others.length
    emitted.others = Math.max(emitted.others, emitted.sent)
    if (news.length > 0) yield this.#artifact(artifact, news, emitted, { append: emitted.isHere })
  }

  /** Yields a new artifact, or one that replaces an artifact of the same id. */
  *#anew(artifact: Artifact, lastChunk: boolean): Generator<RunEvent> {
    const emitted = this.#emittedOf(artifact.artifactId)
    const { text, others } = split(artifact)
    yield* this.#text(emitted.text.replace(text))
    emitted.sent = others.length
    emitted.others = others.length
    if (others.length > 0) yield this.#artifact(artifact, others, emitted, { append: false, lastChunk })
  }

  /** Yields more content of an artifact. */
  *#more(artifact: Artifact, lastChunk: boolean): Generator<RunEvent> {
    const emitted = this.#emittedOf(artifact.artifactId)
    const { text, others } = split(artifact)
    yield* this.#text(emitted.text.append(text))
    // After a lost connection, the service may repeat parts that were emitted.
    const news = others.slice(Math.max(0, emitted.others - emitted.sent))
    emitted.sent += others.length
    emitted.others = Math.max(emitted.others, emitted.sent)
    if (news.length > 0 || (lastChunk && emitted.isHere)) {
      yield this.#artifact(artifact, news, emitted, { append: emitted.isHere, lastChunk })
    }
  }

  *#text(text: string): Generator<RunEvent> {
    if (text === '') return
    this.#hasAnswer = true
    yield { type: 'text', text }
  }

  #artifact(
    { artifactId, name, description, metadata, extensions }: Artifact,
    parts: readonly ContentPart[],
    emitted: EmittedArtifact,
    { append, lastChunk }: Pick<ArtifactEvent, 'append' | 'lastChunk'>,
  ): ArtifactEvent {
    emitted.isHere = true
    this.#hasAnswer = true
    return {
      type: 'artifact',
      artifactId,
      ...(name !== '' && { name }),
      ...(description !== '' && { description }),
      parts,
      ...factsOf({ metadata, extensions }),
      ...(append && { append }),
      ...(lastChunk !== undefined && { lastChunk }),
    }
  }
}

/** The text of an artifact, and its other parts. */
function split({ parts }: Artifact): { text: string; others: readonly ContentPart[] } {
  const all = fromRemoteParts(parts)
  return {
    text: all.map(part => (part.type === 'text' ? part.text : '')).join(''),
    others: all.filter(({ type }) => type !== 'text'),
  }
}

function factsOf({ metadata, extensions }: Pick<Artifact, 'metadata' | 'extensions'>) {
  return {
    ...(metadata !== undefined && { metadata }),
    ...(extensions.length > 0 && { extensions: extensions.slice(0, MAX_EXTENSIONS) }),
  }
}

/** Most URIs of extensions that an event has. */
const MAX_EXTENSIONS = 100

const STATUSES = ['started', 'progress', 'completed', 'failed'] as const

/** The step in the metadata of a status. Undefined if there is none. */
function stepIn(metadata: unknown): StepEvent | undefined {
  const step = isObject(metadata) ? metadata.step : undefined
  if (!isObject(step) || typeof step.name !== 'string') return undefined
  const status = STATUSES.find(each => each === step.status)
  if (status === undefined) return undefined
  return {
    type: 'step',
    name: step.name,
    status,
    ...texts(step),
    ...(Number.isSafeInteger(step.index) && { index: Number(step.index) }),
    ...(Number.isFinite(step.durationMs) && { durationMs: Number(step.durationMs) }),
  }
}

function texts(step: Readonly<Record<string, unknown>>): Pick<StepEvent, 'id' | 'text' | 'error'> {
  const found = (['id', 'text', 'error'] as const).filter(name => typeof step[name] === 'string')
  return Object.fromEntries(found.map(name => [name, step[name]]))
}

/** Throws `invalid_agent_response` for a value that is nested too deep, or has too many values inside. */
function checkSize(value: unknown): void {
  const waiting: [value: unknown, depth: number][] = [[value, 0]]
  let count = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [each, depth] = next
    if (depth > MAX_JSON_DEPTH) throw unfit(`sent JSON that is nested deeper than ${MAX_JSON_DEPTH}`)
    if (typeof each !== 'object' || each === null || each instanceof Uint8Array) continue
    for (const member of Object.values(each)) {
      if (++count > MAX_JSON_VALUES) throw unfit(`sent JSON with more than ${MAX_JSON_VALUES} values`)
      waiting.push([member, depth + 1])
    }
  }
}

/** Most characters of an id. */
const MAX_ID_LENGTH = 1000

/** Returns the id of a task or an artifact. Throws `invalid_agent_response` for an empty or too long id. */
function checkId(id: string, what: string): string {
  if (id !== '' && id.length <= MAX_ID_LENGTH) return id
  throw unfit(`sent ${what} without an id of 1 to ${MAX_ID_LENGTH} characters`)
}
