/**
 * Translates what a remote agent says into the events of a run. It knows nothing of connections.
 *
 * @module
 */

import type { Artifact, Message, TaskStatus } from '@a2a-js/sdk'
import type { ArtifactEvent, ContentPart, RunEvent } from '../../agents/contract.ts'
import { checkId, checkSize } from './checks.ts'
import { unfit } from './failure.ts'
import { fromRemoteParts, textOfParts } from './parts.ts'
import type { Payload } from './service.ts'
import { stepIn } from './steps.ts'
import { ToldText } from './told-text.ts'

/** The state in which a task no longer works, or `answered` for a message without a task. */
export type EndState =
  | 'answered'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'input-required'
  | 'auth-required'

/** How far a remote agent has come when it no longer works. */
export interface RemoteEnd {
  readonly state: EndState
  /** The parts of the status message. */
  readonly parts: readonly ContentPart[]
  /** Tells this status from a later one of the same state. */
  readonly mark: string
}

/** By artifact: how many characters of text, and how many other parts, earlier runs have told. */
export type ToldArtifacts = Readonly<Record<string, readonly [characters: number, others: number]>>

/** What is known before the remote agent says anything. */
export interface TranslatorOptions {
  /** The name of the agent, for its progress. */
  readonly name: string
  readonly taskId?: string | undefined
  readonly contextId?: string | undefined
  readonly told?: ToldArtifacts | undefined
  /** The mark of the status that has been answered. */
  readonly answered?: string | undefined
}

/** The states by their numbers in `a2a.proto`. Undefined in the list: not known, or at work. */
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

/** What was told of one artifact. */
interface ToldArtifact {
  readonly text: ToldText
  /** Other parts: those that were told, and those that the service has sent by now. */
  others: number
  sent: number
  /** This run has told some of it. */
  isHere: boolean
}

/** Translates what one run hears of a remote agent. What is heard twice is told once. */
export class Translator {
  readonly #name: string
  readonly #answered: string | undefined
  readonly #artifacts = new Map<string, ToldArtifact>()
  #taskId: string | undefined
  #contextId: string | undefined
  #end: RemoteEnd | undefined
  #hasAnswer = false
  #lastMark = ''

  constructor({ name, taskId, contextId, told = {}, answered }: TranslatorOptions) {
    this.#name = name
    this.#taskId = taskId
    this.#contextId = contextId
    this.#answered = answered
    for (const [id, [before, others]] of Object.entries(told)) {
      this.#artifacts.set(id, { text: new ToldText(before), others, sent: others, isHere: false })
    }
  }

  get taskId(): string | undefined {
    return this.#taskId
  }

  /** The context that the service names, or the one that it was given. */
  get contextId(): string | undefined {
    return this.#contextId
  }

  /** How it ended, once it has. */
  get end(): RemoteEnd | undefined {
    return this.#end
  }

  /** Whether text, an artifact or a message was told. */
  get hasAnswer(): boolean {
    return this.#hasAnswer
  }

  /** What was told of each artifact, for the run that goes on. */
  get told(): ToldArtifacts {
    const all = [...this.#artifacts].map(([id, { text, others }]) => [id, [text.length, others]] as const)
    return Object.fromEntries(all)
  }

  /** Takes in a task that was found in another way. */
  adopt(taskId: string, contextId: string): void {
    this.#see(taskId, contextId)
  }

  /** The events of what the remote agent says. Throws `invalid_agent_response` for what cannot be. */
  *see(payload: Payload): Generator<RunEvent> {
    checkSize(payload)
    switch (payload.$case) {
      case 'task': {
        const { id, contextId, artifacts, status } = payload.value
        this.#see(id, contextId)
        for (const artifact of artifacts) yield* this.#asItIs(artifact)
        return yield* this.#status(status, undefined)
      }
      case 'message':
        return yield* this.#message(payload.value)
      case 'artifactUpdate': {
        const { taskId, contextId, artifact, append, lastChunk } = payload.value
        this.#see(taskId, contextId)
        if (artifact === undefined) throw unfit('sent an update without its artifact')
        return yield* append ? this.#more(artifact, lastChunk) : this.#anew(artifact, lastChunk)
      }
      case 'statusUpdate': {
        const { taskId, contextId, status, metadata } = payload.value
        this.#see(taskId, contextId)
        return yield* this.#status(status, metadata)
      }
    }
  }

  /** All must be of one task, in one context. */
  #see(taskId: string, contextId: string): void {
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
      // What was answered may be told once more, before the service goes on.
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

  #toldOf(artifactId: string): ToldArtifact {
    const id = checkId(artifactId, 'an artifact')
    const known = this.#artifacts.get(id)
    if (known !== undefined) return known
    if (this.#artifacts.size >= MAX_ARTIFACTS) throw unfit(`sent more than ${MAX_ARTIFACTS} artifacts`)
    const told = { text: new ToldText(0), others: 0, sent: 0, isHere: false }
    this.#artifacts.set(id, told)
    return told
  }

  /** An artifact as it is now, with what was told of it. */
  *#asItIs(artifact: Artifact): Generator<RunEvent> {
    const told = this.#toldOf(artifact.artifactId)
    const { text, others } = split(artifact)
    yield* this.#text(told.text.replace(text))
    const news = others.slice(told.others)
    told.sent = others.length
    told.others = Math.max(told.others, told.sent)
    if (news.length > 0) yield this.#artifact(artifact, news, told, { append: told.isHere })
  }

  /** A new artifact, or another one in place of that of the same id. */
  *#anew(artifact: Artifact, lastChunk: boolean): Generator<RunEvent> {
    const told = this.#toldOf(artifact.artifactId)
    const { text, others } = split(artifact)
    yield* this.#text(told.text.replace(text))
    told.sent = others.length
    told.others = others.length
    if (others.length > 0) yield this.#artifact(artifact, others, told, { append: false, lastChunk })
  }

  /** More of an artifact. */
  *#more(artifact: Artifact, lastChunk: boolean): Generator<RunEvent> {
    const told = this.#toldOf(artifact.artifactId)
    const { text, others } = split(artifact)
    yield* this.#text(told.text.append(text))
    // After a connection was lost, the service may repeat what was told.
    const news = others.slice(Math.max(0, told.others - told.sent))
    told.sent += others.length
    told.others = Math.max(told.others, told.sent)
    if (news.length > 0 || (lastChunk && told.isHere)) {
      yield this.#artifact(artifact, news, told, { append: told.isHere, lastChunk })
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
    told: ToldArtifact,
    { append, lastChunk }: Pick<ArtifactEvent, 'append' | 'lastChunk'>,
  ): ArtifactEvent {
    told.isHere = true
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

/** Most URIs of extensions that are passed on. */
const MAX_EXTENSIONS = 100
