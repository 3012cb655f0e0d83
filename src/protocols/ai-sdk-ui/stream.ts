/**
 * The UI message stream of the AI SDK, for clients of its versions 5, 6 and 7. The earliest of them refuse unknown fields, so
 * only fields that all of them know are sent.
 *
 * @module
 */

import type {
  Answer,
  ArtifactEvent,
  ContentPart,
  Encoder,
  EventFacts,
  FinishEvent,
  InputRequest,
  MessageEvent,
  RunEvent,
  StepEvent,
} from '../../core-entry.ts'
import { sseData } from '../../web/sse.ts'
import { ANY, canonicalJson, endMessageOf, SentText, urlOf } from '../encoders/index.ts'
import { GatheredArtifact } from './artifact.ts'

/** The message that a run streams, and what the page has of it. */
export interface StreamedMessage {
  /** Id of the message: that of the first run of it. */
  readonly id: string
  readonly runId: string
  /** Whether the run is stored. A stored run may continue after a crash and repeat its text. */
  readonly isStored: boolean
  /** The requests that were answered before this run. The page has their calls. */
  readonly answered?: readonly InputRequest[] | undefined
  /** The answers that the page itself gave. */
  readonly given?: readonly Answer[] | undefined
}

/** The tool whose calls are questions. The page gives the answer as its output. */
export const QUESTION = 'question'

/** Marks calls of the service's tools, which the page neither knows nor runs. */
const OF_SERVICE = { dynamic: true, providerExecuted: true } as const

const DONE = 'data: [DONE]\n\n'

type TextKind = 'text' | 'reasoning'

/** The run, or a member inside of it. Several may write at the same time, each into a part of its own. */
interface Speaker {
  readonly sent: Partial<Record<TextKind, SentText>>
  /** Its open part. */
  part: { readonly type: TextKind; readonly id: string } | undefined
}

/** A call of a tool, without an end. */
interface OpenCall {
  readonly toolName: string | undefined
  readonly isOfPage: boolean
  isReady: boolean
  /** Whether the page has the call. It waited for an answer, and the run makes it again. */
  readonly isAnswered?: true
  /** The arguments that the page has. */
  asked?: unknown
  /** Whether the page has the result, because it gave the result itself. */
  readonly hasResult?: boolean
}

/** Encodes the runs of one message. */
export class MessageStream implements Encoder {
  readonly #message: StreamedMessage
  readonly #speakers = new Map<string, Speaker>()
  /** The speakers with an open part. */
  readonly #speaking = new Set<Speaker>()
  readonly #calls = new Map<string, OpenCall>()
  readonly #artifacts = new Map<string, GatheredArtifact>()
  #parts = 0
  #hasBegun = false
  #isInStep = false
  /** Whether a call has got its result in this step. */
  #hasResult = false
  /** How many calls have no result yet. */
  #atWork = 0

  constructor(message: StreamedMessage) {
    this.#message = message
    this.#noteAnswered(message.answered ?? [], message.given)
  }

  encode(event: RunEvent): string {
    const chunks = this.#encode(event)
    return this.#hasBegun ? chunks : this.#start() + chunks
  }

  /**
   * Encodes the end of a run that another one continues in the same message. Its questions are left out, because their answers
   * are not sent again.
   */
  continued({ requests = [] }: FinishEvent): string {
    const before = this.#hasBegun ? '' : this.#start()
    const calls = requests.filter(({ kind }) => kind !== 'question')
    const chunks = before + this.#closeAll() + this.#askAll(calls) + this.#finishStep()
    this.#noteAnswered(calls)
    return chunks
  }

  #start(): string {
    this.#hasBegun = true
    const { id, runId } = this.#message
    return sseData({ type: 'start', messageId: id, messageMetadata: { runId } })
  }

  #encode(event: RunEvent): string {
    switch (event.type) {
      case 'text':
        return this.#delta('text', event.text, event)
      case 'thinking':
        return this.#delta('reasoning', event.text, event)
      case 'tool_call_start':
        return this.#begin(event.toolCall, event.isClientTool, event)
      case 'tool_call_delta':
        return this.#argsDelta(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'tool_call_end':
        return this.#end(event)
      case 'step':
        return this.#content(dataOf('step', stepOf(event), event.id ?? event.name))
      case 'steered': {
        const { runId, messageId, parts } = event
        return this.#content(dataOf('steered', { messageId, parts }, runId))
      }
      case 'artifact':
        return this.#artifact(event)
      case 'message':
        return this.#partsOf(event)
      case 'resumed':
        return this.#resume()
      case 'finish':
        return this.#partsOf(endMessageOf(event)) + this.#finish(event)
      case 'error':
        return this.#fail(event.error, event.code)
      default:
        return ''
    }
  }

  #delta(type: TextKind, text: string, facts: EventFacts): string {
    const speaker = this.#speakerOf(facts)
    const sent = this.#sentBy(speaker, type)
    const fresh = sent === undefined ? text : sent.add(text)
    if (fresh === '') return ''
    let before = ''
    if (speaker.part?.type !== type || sent?.isOther || this.#isOver) {
      before = this.#close(speaker) + this.#next()
      speaker.part = { type, id: `${type}-${++this.#parts}` }
      this.#speaking.add(speaker)
      before += sseData({ type: `${type}-start`, id: speaker.part.id })
    }
    return `${before}data: {"type":"${type}-delta","id":"${speaker.part.id}","delta":${JSON.stringify(fresh)}}\n\n`
  }

  /** The text that a speaker has sent. Undefined for a run that never repeats text. */
  #sentBy({ sent }: Speaker, type: TextKind): SentText | undefined {
    if (this.#message.isStored) sent[type] ??= new SentText()
    return sent[type]
  }

  #speakerOf({ agent = '', parentId = '' }: EventFacts): Speaker {
    const key = agent === '' && parentId === '' ? '' : JSON.stringify([agent, parentId])
    let speaker = this.#speakers.get(key)
    if (speaker === undefined) {
      speaker = { sent: {}, part: undefined }
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

  #argsDelta(toolCallId: string, inputTextDelta: string): string {
    if (this.#calls.get(toolCallId)?.isReady !== false) return ''
    return sseData({ type: 'tool-input-delta', toolCallId, inputTextDelta })
  }

  #ready(toolCallId: string, input: unknown = {}): string {
    const call = this.#calls.get(toolCallId)
    // Arguments that were edited with the approval replace those that the page has.
    if (call === undefined || (call.isReady && !isEdited(call, input))) return ''
    const { toolName, isOfPage } = call
    const chunks = sseData({
      type: 'tool-input-available',
      ...{ toolCallId, toolName, ...kindOf(isOfPage), input },
    })
    call.isReady = true
    call.asked = input
    return chunks
  }

  #end(event: Extract<RunEvent, { type: 'tool_call_end' }>): string {
    const { toolCallId } = event
    const call = this.#calls.get(toolCallId)
    if (call === undefined) return ''
    const chunks = call.hasResult ? '' : outputOf(event, call)
    const ready = call.isReady ? '' : this.#ready(toolCallId)
    this.#calls.delete(toolCallId)
    if (!call.isAnswered) this.#atWork--
    this.#hasResult = true
    return ready + chunks
  }

  #artifact(event: ArtifactEvent & EventFacts): string {
    const { artifactId, append, lastChunk } = event
    const artifact = (append && this.#artifacts.get(artifactId)) || new GatheredArtifact(event)
    const files = event.parts.map(part => (isFile(part) ? fileOf(part) : '')).join('')
    const chunks = files + artifactOf(artifact.add(event))
    if (lastChunk) this.#artifacts.delete(artifactId)
    else this.#artifacts.set(artifactId, artifact)
    return chunks && this.#apart(event, chunks)
  }

  /** Encodes the parts of a message. Each text is a part of its own. */
  #partsOf(event: (MessageEvent & EventFacts) | undefined): string {
    return event === undefined ? '' : event.parts.map(part => this.#part(part, event)).join('')
  }

  #part(part: ContentPart, facts: EventFacts): string {
    if (part.type === 'data') return this.#apart(facts, dataOf('message', part.data))
    if (isFile(part)) return this.#apart(facts, fileOf(part))
    const speaker = this.#speakerOf(facts)
    return this.#close(speaker) + this.#delta('text', part.text, facts) + this.#close(speaker)
  }

  /** Prepares for the repeated events of a run that resumes. Complete calls stay, and open calls begin again. */
  #resume(): string {
    for (const { sent } of this.#speakers.values()) {
      sent.text?.resume()
      sent.reasoning?.resume()
    }
    for (const [id, call] of this.#calls) if (!call.isAnswered) this.#calls.delete(id)
    this.#atWork = 0
    return ''
  }

  #finish({ finishReason, requests = [], structured, usage }: FinishEvent): string {
    const data = structured == null ? '' : dataOf('structured', structured)
    const before = this.#closeAll() + this.#rest(data) + this.#askAll(requests) + this.#finishStep()
    const messageMetadata = {
      finishReason,
      ...(usage && { usage }),
      // Replaces the requests of the earlier run, which are answered.
      ...((requests.length > 0 || this.#message.answered) && { requests }),
    }
    if (finishReason !== 'cancelled') return before + sseData({ type: 'finish', messageMetadata }) + DONE
    return before + sseData({ type: 'message-metadata', messageMetadata }) + sseData({ type: 'abort' }) + DONE
  }

  #fail(errorText: string, errorCode: string): string {
    const about = sseData({ type: 'message-metadata', messageMetadata: { errorCode } })
    return this.#closeAll() + this.#rest() + about + sseData({ type: 'error', errorText }) + DONE
  }

  /** The parts of artifacts that were not sent, and `last`. */
  #rest(last = ''): string {
    const chunks = [...this.#artifacts.values()].map(artifact => artifactOf(artifact.rest())).join('') + last
    return chunks && this.#content(chunks)
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
    const chunks = begun + this.#ready(toolCallId, args)
    if (isOfPage) return chunks
    return chunks + sseData({ type: 'tool-approval-request', approvalId: id, toolCallId })
  }

  /** Notes the answered calls. The run that continues makes them again. */
  #noteAnswered(requests: readonly InputRequest[], given: readonly Answer[] = []): void {
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

  /** Adds content that ends the open part of its speaker. */
  #apart(facts: EventFacts, chunks: string): string {
    return this.#close(this.#speakerOf(facts)) + this.#content(chunks)
  }

  /** Starts a step before the content if none is open. */
  #content(chunks: string): string {
    if (this.#isInStep) return chunks
    this.#isInStep = true
    return sseData({ type: 'start-step' }) + chunks
  }

  /** Starts the next step if this one has results and no open calls. */
  #next(): string {
    return (this.#isOver ? this.#closeAll() + this.#finishStep() : '') + this.#content('')
  }

  get #isOver(): boolean {
    return this.#hasResult && this.#atWork === 0
  }

  #finishStep(): string {
    const chunks = this.#isInStep ? sseData({ type: 'finish-step' }) : ''
    this.#isInStep = false
    this.#hasResult = false
    return chunks
  }

  #closeAll(): string {
    let chunks = ''
    for (const speaker of this.#speaking) chunks += this.#close(speaker)
    return chunks
  }

  #close(speaker: Speaker): string {
    const { part } = speaker
    if (part === undefined) return ''
    speaker.part = undefined
    this.#speaking.delete(speaker)
    return sseData({ type: `${part.type}-end`, id: part.id })
  }
}

function isEdited({ isAnswered, asked }: OpenCall, input: unknown): boolean {
  return isAnswered === true && canonicalJson(input) !== canonicalJson(asked ?? {})
}

function kindOf(isOfPage: boolean): Partial<typeof OF_SERVICE> {
  return isOfPage ? {} : OF_SERVICE
}

function outputOf(
  { toolCallId, result = null, error, code }: Extract<RunEvent, { type: 'tool_call_end' }>,
  { isOfPage, isAnswered }: OpenCall,
): string {
  if (error === undefined)
    return sseData({ type: 'tool-output-available', toolCallId, output: result, ...kindOf(isOfPage) })
  if (code === 'approval_denied' && isAnswered) return sseData({ type: 'tool-output-denied', toolCallId })
  return sseData({ type: 'tool-output-error', toolCallId, errorText: error, ...kindOf(isOfPage) })
}

/** A part with data. It replaces an earlier part with the same id. */
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
