/**
 * The UI message stream of the AI SDK, as the clients of its versions 5, 6 and 7 read it. The first of them take no field that
 * they do not know, so only what all of them know is told.
 *
 * @module
 */

import type {
  Answer,
  ArtifactEvent,
  ContentPart,
  EventFacts,
  FinishEvent,
  InputRequest,
  MessageEvent,
  RunEvent,
  StepEvent,
} from '../../agents/contract.ts'
import { lastWordsOf } from '../../agents/work/last-words.ts'
import { canonicalJson } from '../../base/canonical-json.ts'
import { sseData } from '../../web/sse.ts'
import type { Encoder } from '../encoders/encoder.ts'
import { ANY, urlOf } from '../encoders/parts.ts'
import { ToldText } from '../encoders/told-text.ts'
import { GatheredArtifact } from './artifact.ts'

/** Which message a run says, and to whom. */
export interface Message {
  /** Id of the message: of the first run that says something of it. */
  readonly id: string
  readonly runId: string
  /** The run is a stored one, which may go on after a crash and say its text again. */
  readonly isStored: boolean
  /** What was answered for this run: the page has these calls. */
  readonly answered?: readonly InputRequest[] | undefined
  /** The answers of the page itself. */
  readonly given?: readonly Answer[] | undefined
}

/** The tool whose calls are questions: the page gives the answer as its output. */
export const QUESTION = 'question'

/** The page does not know the tools of the service, and does not run them. */
const OF_SERVICE = { dynamic: true, providerExecuted: true } as const

const DONE = 'data: [DONE]\n\n'

type Spoken = 'text' | 'reasoning'

/** Who says something: the run, or a member inside of it. Several speak at a time, each in a part of its own. */
interface Speaker {
  readonly told: Partial<Record<Spoken, ToldText>>
  /** Its part that is not over. */
  part: { readonly type: Spoken; readonly id: string } | undefined
}

/** A call of a tool, without an end. */
interface Call {
  readonly toolName: string | undefined
  readonly isOfPage: boolean
  isReady: boolean
  /** The page has it: it waited, and the run makes it again. */
  readonly isAnswered?: true
  /** The arguments with which the page has it. */
  asked?: unknown
  /** The page has the result: it gave that itself. */
  readonly hasResult?: boolean
}

/** Encodes the runs of one message. */
export class MessageStream implements Encoder {
  readonly #message: Message
  readonly #speakers = new Map<string, Speaker>()
  /** Those with a part that is not over. */
  readonly #speaking = new Set<Speaker>()
  readonly #calls = new Map<string, Call>()
  readonly #artifacts = new Map<string, GatheredArtifact>()
  #parts = 0
  #hasBegun = false
  #isInStep = false
  /** Calls that have their result in this step, and calls that wait for theirs. */
  #hasResult = false
  #atWork = 0

  constructor(message: Message) {
    this.#message = message
    this.#take(message.answered ?? [], message.given)
  }

  encode(event: RunEvent): string {
    const told = this.#encode(event)
    return this.#hasBegun ? told : this.#start() + told
  }

  /**
   * The end of a run that another one goes on from, in the same message. Its questions are left out: they have their answers, which
   * nobody tells again.
   */
  goesOn({ requests = [] }: FinishEvent): string {
    const before = this.#hasBegun ? '' : this.#start()
    const calls = requests.filter(({ kind }) => kind !== 'question')
    const told = before + this.#closeAll() + this.#askAll(calls) + this.#finishStep()
    this.#take(calls)
    return told
  }

  #start(): string {
    this.#hasBegun = true
    const { id, runId } = this.#message
    return sseData({ type: 'start', messageId: id, messageMetadata: { runId } })
  }

  #encode(event: RunEvent): string {
    switch (event.type) {
      case 'text':
        return this.#say('text', event.text, event)
      case 'thinking':
        return this.#say('reasoning', event.text, event)
      case 'tool_call_start':
        return this.#begin(event.toolCall, event.isClientTool, event)
      case 'tool_call_delta':
        return this.#argue(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'tool_call_end':
        return this.#end(event)
      case 'step':
        return this.#content(dataOf('step', stepOf(event), event.id ?? event.name))
      case 'artifact':
        return this.#artifact(event)
      case 'message':
        return this.#partsOf(event)
      case 'resumed':
        return this.#resume()
      case 'finish':
        return this.#partsOf(lastWordsOf(event)) + this.#finish(event)
      case 'error':
        return this.#fail(event.error, event.code)
      default:
        return ''
    }
  }

  #say(type: Spoken, text: string, facts: EventFacts): string {
    const speaker = this.#speakerOf(facts)
    const told = this.#toldBy(speaker, type)
    const fresh = told === undefined ? text : told.add(text)
    if (fresh === '') return ''
    let before = ''
    if (speaker.part?.type !== type || told?.isOther || this.#isOver) {
      before = this.#close(speaker) + this.#next()
      speaker.part = { type, id: `${type}-${++this.#parts}` }
      this.#speaking.add(speaker)
      before += sseData({ type: `${type}-start`, id: speaker.part.id })
    }
    return `${before}data: {"type":"${type}-delta","id":"${speaker.part.id}","delta":${JSON.stringify(fresh)}}\n\n`
  }

  /** What a speaker has said; only of a run that may say it again. */
  #toldBy({ told }: Speaker, type: Spoken): ToldText | undefined {
    if (this.#message.isStored) told[type] ??= new ToldText()
    return told[type]
  }

  #speakerOf({ agent = '', parentId = '' }: EventFacts): Speaker {
    const key = agent === '' && parentId === '' ? '' : JSON.stringify([agent, parentId])
    let speaker = this.#speakers.get(key)
    if (speaker === undefined) {
      speaker = { told: {}, part: undefined }
      this.#speakers.set(key, speaker)
    }
    return speaker
  }

  #begin(
    { id: toolCallId, name: toolName }: { readonly id: string; readonly name: string },
    isOfPage = false,
    facts: EventFacts = {},
  ): string {
    const known = this.#calls.get(toolCallId)
    if (known?.isAnswered) return ''
    const before = this.#close(this.#speakerOf(facts)) + this.#next()
    if (known === undefined) this.#atWork++
    this.#calls.set(toolCallId, { toolName, isOfPage, isReady: false })
    return before + sseData({ type: 'tool-input-start', toolCallId, toolName, ...kindOf(isOfPage) })
  }

  #argue(toolCallId: string, inputTextDelta: string): string {
    if (this.#calls.get(toolCallId)?.isReady !== false) return ''
    return sseData({ type: 'tool-input-delta', toolCallId, inputTextDelta })
  }

  #ready(toolCallId: string, input: unknown = {}): string {
    const call = this.#calls.get(toolCallId)
    // What was edited before it was approved takes the place of what the page has.
    if (call === undefined || (call.isReady && !isEdited(call, input))) return ''
    const { toolName, isOfPage } = call
    const told = sseData({
      type: 'tool-input-available',
      ...{ toolCallId, toolName, ...kindOf(isOfPage), input },
    })
    call.isReady = true
    call.asked = input
    return told
  }

  #end(event: Extract<RunEvent, { type: 'tool_call_end' }>): string {
    const { toolCallId } = event
    const call = this.#calls.get(toolCallId)
    if (call === undefined) return ''
    const told = call.hasResult ? '' : outputOf(event, call)
    const ready = call.isReady ? '' : this.#ready(toolCallId)
    this.#calls.delete(toolCallId)
    if (!call.isAnswered) this.#atWork--
    this.#hasResult = true
    return ready + told
  }

  #artifact(event: ArtifactEvent & EventFacts): string {
    const { artifactId, append, lastChunk } = event
    const artifact = (append && this.#artifacts.get(artifactId)) || new GatheredArtifact(event)
    const files = event.parts.map(part => (isFile(part) ? fileOf(part) : '')).join('')
    const told = files + artifactOf(artifact.add(event))
    if (lastChunk) this.#artifacts.delete(artifactId)
    else this.#artifacts.set(artifactId, artifact)
    return told && this.#apart(event, told)
  }

  /** A part of a message. Its text is a part of its own. */
  #partsOf(event: (MessageEvent & EventFacts) | undefined): string {
    return event === undefined ? '' : event.parts.map(part => this.#part(part, event)).join('')
  }

  #part(part: ContentPart, facts: EventFacts): string {
    if (part.type === 'data') return this.#apart(facts, dataOf('message', part.data))
    if (isFile(part)) return this.#apart(facts, fileOf(part))
    const speaker = this.#speakerOf(facts)
    return this.#close(speaker) + this.#say('text', part.text, facts) + this.#close(speaker)
  }

  /** What was complete stays; what was not begins again. */
  #resume(): string {
    for (const { told } of this.#speakers.values()) {
      told.text?.resume()
      told.reasoning?.resume()
    }
    for (const [id, call] of this.#calls) if (!call.isAnswered) this.#calls.delete(id)
    this.#atWork = 0
    return ''
  }

  #finish({ finishReason, requests = [], structured, usage }: FinishEvent): string {
    const data = structured == null ? '' : dataOf('structured', structured)
    const said = this.#closeAll() + this.#rest(data) + this.#askAll(requests) + this.#finishStep()
    const messageMetadata = {
      finishReason,
      ...(usage && { usage }),
      // What was asked before is answered.
      ...((requests.length > 0 || this.#message.answered) && { requests }),
    }
    if (finishReason !== 'cancelled') return said + sseData({ type: 'finish', messageMetadata }) + DONE
    return said + sseData({ type: 'message-metadata', messageMetadata }) + sseData({ type: 'abort' }) + DONE
  }

  #fail(errorText: string, errorCode: string): string {
    const about = sseData({ type: 'message-metadata', messageMetadata: { errorCode } })
    return this.#closeAll() + this.#rest() + about + sseData({ type: 'error', errorText }) + DONE
  }

  /** What was not told of the artifacts, and what comes last. */
  #rest(last = ''): string {
    const told = [...this.#artifacts.values()].map(artifact => artifactOf(artifact.rest())).join('') + last
    return told && this.#content(told)
  }

  #askAll(requests: readonly InputRequest[]): string {
    return requests.map(request => this.#ask(request)).join('')
  }

  #ask({ id, kind, toolCallId = id, toolName = '', args, message, schema }: InputRequest): string {
    if (kind === 'question') {
      const about = { toolCallId: id, toolName: QUESTION, input: { message, schema } }
      return this.#content(sseData({ type: 'tool-input-available', ...about }))
    }
    const isOfPage = kind === 'client_tool'
    const begun = this.#calls.has(toolCallId) ? '' : this.#begin({ id: toolCallId, name: toolName }, isOfPage)
    const told = begun + this.#ready(toolCallId, args)
    if (isOfPage) return told
    return told + sseData({ type: 'tool-approval-request', approvalId: id, toolCallId })
  }

  /** Notes the calls that are answered: the run that goes on makes them again. */
  #take(requests: readonly InputRequest[], given: readonly Answer[] = []): void {
    for (const { id, kind, toolCallId = id, toolName, args: asked } of requests) {
      const isOfPage = kind === 'client_tool'
      if (kind !== 'question')
        this.#calls.set(toolCallId, {
          ...{ toolName, isOfPage, isReady: true, isAnswered: true, asked },
          hasResult: isOfPage && given.some(answer => answer.id === id),
        })
    }
    this.#atWork = 0
  }

  /** Tells what ends what its speaker says. */
  #apart(facts: EventFacts, told: string): string {
    return this.#close(this.#speakerOf(facts)) + this.#content(told)
  }

  /** Everything is part of a step. */
  #content(told: string): string {
    if (this.#isInStep) return told
    this.#isInStep = true
    return sseData({ type: 'start-step' }) + told
  }

  /** What is said or called after results is of another step. */
  #next(): string {
    return (this.#isOver ? this.#closeAll() + this.#finishStep() : '') + this.#content('')
  }

  get #isOver(): boolean {
    return this.#hasResult && this.#atWork === 0
  }

  #finishStep(): string {
    const told = this.#isInStep ? sseData({ type: 'finish-step' }) : ''
    this.#isInStep = false
    this.#hasResult = false
    return told
  }

  #closeAll(): string {
    let told = ''
    for (const speaker of this.#speaking) told += this.#close(speaker)
    return told
  }

  #close(speaker: Speaker): string {
    const { part } = speaker
    if (part === undefined) return ''
    speaker.part = undefined
    this.#speaking.delete(speaker)
    return sseData({ type: `${part.type}-end`, id: part.id })
  }
}

function isEdited({ isAnswered, asked }: Call, input: unknown): boolean {
  return isAnswered === true && canonicalJson(input) !== canonicalJson(asked ?? {})
}

function kindOf(isOfPage: boolean): Partial<typeof OF_SERVICE> {
  return isOfPage ? {} : OF_SERVICE
}

function outputOf(
  { toolCallId, result = null, error, code }: Extract<RunEvent, { type: 'tool_call_end' }>,
  { isOfPage, isAnswered }: Call,
): string {
  if (error === undefined)
    return sseData({ type: 'tool-output-available', toolCallId, output: result, ...kindOf(isOfPage) })
  if (code === 'approval_denied' && isAnswered) return sseData({ type: 'tool-output-denied', toolCallId })
  return sseData({ type: 'tool-output-error', toolCallId, errorText: error, ...kindOf(isOfPage) })
}

/** A part with data. One with an id takes the place of the one before it. */
function dataOf(name: string, data: unknown, id?: string): string {
  return sseData({ type: `data-${name}`, ...(id !== undefined && { id }), data })
}

function stepOf({ name, status, text, durationMs, error }: StepEvent): object {
  return { name, status, text, durationMs, error }
}

function artifactOf(artifact: { readonly artifactId: string } | undefined): string {
  return artifact === undefined ? '' : dataOf('artifact', artifact, artifact.artifactId)
}

type FilePart = Exclude<ContentPart, { type: 'text' | 'data' }>

function isFile(part: ContentPart): part is FilePart {
  return part.type !== 'text' && part.type !== 'data'
}

/** Media types of files that have none. */
const MEDIA_TYPES = { image: 'image/png', audio: 'audio/mpeg', file: ANY } as const

function fileOf({ type, data, mimeType: mediaType = MEDIA_TYPES[type] }: FilePart): string {
  return sseData({ type: 'file', url: urlOf(data, mediaType), mediaType })
}
