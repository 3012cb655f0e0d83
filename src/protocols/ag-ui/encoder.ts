/**
 * Encodes a run as events of AG-UI. All clients check the order of events: everything is closed before the end, and no id is open
 * twice.
 *
 * @module
 */

import type {
  ArtifactEvent,
  ContentPart,
  Encoder,
  EventFacts,
  FinishEvent,
  RunEvent,
  SteeredEvent,
  StepEvent,
} from '../../core-entry.ts'
import { sseData } from '../../web/sse.ts'
import { endMessageOf, SentText } from '../encoders/index.ts'
import { idIn, type KnownCalls } from './answers.ts'
import { finished } from './finish.ts'
import { custom, deltasOf } from './frames.ts'
import { type RunNames, Subagents, type Tag, trim } from './subagents.ts'

/** The run to encode, and what its client has and supports. */
export interface AgUiRun extends RunNames, KnownCalls {
  /** Whether the client supports 1.0: subagents, for members of a team and agents of a workflow, and all outcomes. */
  readonly isVersion1?: boolean
  /** Whether the run may emit the event `resumed`. */
  readonly mayResume?: boolean
}

/** The id of the artifact that is the state of an agent. */
const STATE = 'state'

/** Open text or thinking. */
interface Block {
  readonly isText: boolean
  readonly id: string
  /** The JSON of a delta's event, up to the delta itself. */
  readonly before: string
}

/** An agent, and the step or call that it is in. Each has at most one open block. */
interface Source {
  readonly at: EventFacts
  readonly tag: Tag
  block?: Block | undefined
  /** The message that tool calls belong to, until one of them has a result. */
  message?: string | undefined
}

interface OpenCall {
  readonly source: Source
  readonly message: string | undefined
  readonly args: SentText | undefined
  hasArgs: boolean
  /** Whether the client has all of its arguments. */
  isReady: boolean
}

interface OpenStep {
  readonly source: Source
  readonly key: string
  /** The name for the client. No other open step has it. */
  readonly name: string
}

/** Encodes the events of one run. */
export class AgUiEncoder implements Encoder {
  readonly #run: AgUiRun
  readonly #text: SentText | undefined
  readonly #sources = new Map<string, Source>()
  readonly #calls = new Map<string, OpenCall>()
  readonly #steps = new Map<string, OpenStep>()
  readonly #subagents: Subagents | undefined
  #ids = 0
  #out = ''

  constructor(run: AgUiRun) {
    this.#run = run
    if (run.mayResume) this.#text = new SentText()
    if (run.isVersion1) this.#subagents = new Subagents(run, event => this.#send(event))
  }

  encode(event: RunEvent): string {
    this.#out = ''
    this.#add(event)
    return this.#out
  }

  /** The calls whose arguments are not complete. */
  get openCalls(): ReadonlySet<string> {
    return new Set([...this.#calls].flatMap(([id, { isReady }]) => (isReady ? [] : [id])))
  }

  /** Begins again what is open, for a client that has the messages until now but for `openCalls`. */
  reopen(argsOf: (toolCallId: string) => string, nameOf: (toolCallId: string) => string): string {
    this.#out = ''
    this.#subagents?.reopen()
    for (const { name, source } of this.#steps.values()) this.#stepStarted(name, source)
    for (const source of this.#sources.values()) if (source.block) this.#blockStarted(source, source.block)
    for (const [toolCallId, { source, message, isReady }] of this.#calls) {
      if (isReady) continue
      this.#callStarted(toolCallId, nameOf(toolCallId), message, source)
      const delta = argsOf(toolCallId)
      if (delta !== '') this.#send({ type: 'TOOL_CALL_ARGS', toolCallId, delta })
    }
    return this.#out
  }

  /** The end of a run that goes on in another one. */
  continued(): string {
    this.#out = ''
    this.#closeAll(undefined, true)
    return this.#out
  }

  /** Throws for an event that cannot be JSON, before anything has changed. */
  #add(event: RunEvent): void {
    switch (event.type) {
      case 'text':
        return this.#delta(event, event.text, true)
      case 'thinking':
        return this.#delta(event, event.text, false)
      case 'message':
        return this.#message(event, event.parts)
      case 'steered':
        return this.#userMessage(event)
      case 'tool_call_start':
        return this.#begin(event, event.toolCall.id, event.toolCall.name)
      case 'tool_call_delta':
        return this.#argsDelta(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'tool_call_end':
        return this.#result(event.toolCallId, event.error ?? textOf(event.result), event.error)
      case 'step':
        return this.#step(event)
      case 'artifact':
        return this.#artifact(event)
      case 'resumed':
        return this.#resume()
      case 'finish': {
        const words = endMessageOf(event)
        if (words !== undefined) this.#message({}, words.parts)
        return this.#finish(event)
      }
      case 'error': {
        const { error: message, code } = event
        this.#closeAll(message)
        return this.#send({ type: 'RUN_ERROR', message, code })
      }
      case 'model_call':
    }
  }

  #send(event: object): void {
    this.#out += sseData(event)
  }

  #nextId(): string {
    return idIn(this.#run.runId, ++this.#ids)
  }

  #delta(at: EventFacts, piece: string, isText: boolean): void {
    const text = isText && this.#text ? this.#text.add(piece) : piece
    if (text === '') return
    const source = this.#sourceOf(at)
    if (source.block?.isText !== isText) this.#open(source, isText)
    this.#out += `${source.block?.before}${JSON.stringify(text)}}\n\n`
  }

  /** Sends the parts as a message of its own. */
  #message(event: EventFacts, parts: readonly ContentPart[]): void {
    const others = parts.filter(({ type }) => type !== 'text')
    const otherParts = others.length === 0 ? '' : custom('message', { parts: others })
    const source = this.#sourceOf(event)
    this.#close(source)
    for (const part of parts) if (part.type === 'text') this.#delta(event, part.text, true)
    this.#close(source)
    this.#out += otherParts
  }

  /** Sends a message of the user that came in the meantime. What the agent says next is another message. */
  #userMessage({ messageId, parts }: SteeredEvent): void {
    for (const source of this.#sources.values()) this.#close(source)
    const delta = parts.map(part => (part.type === 'text' ? part.text : '')).join('')
    this.#send({ type: 'TEXT_MESSAGE_START', messageId, role: 'user' })
    if (delta !== '') this.#send({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    this.#send({ type: 'TEXT_MESSAGE_END', messageId })
  }

  #sourceOf({ agent, parentId }: EventFacts): Source {
    const at = { agent, parentId }
    const key = keyOf(at)
    const known = this.#sources.get(key)
    if (known !== undefined) return known
    const source: Source = { at, tag: this.#tagAt(at) }
    this.#sources.set(key, source)
    trim(this.#sources, oldest => this.#close(oldest))
    return source
  }

  #tagAt(at: EventFacts): Tag {
    const enclosingOf = (id: string) => {
      const call = this.#calls.get(id)
      return call ? { ...call.source.at, isCall: true } : this.#steps.get(id)?.source.at
    }
    return this.#subagents?.at(at, enclosingOf) ?? {}
  }

  #open(source: Source, isText: boolean): void {
    this.#close(source)
    const messageId = this.#nextId()
    if (isText) source.message = messageId
    this.#blockStarted(source, { isText, id: messageId })
    const type = isText ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
    const before = `data: {"type":"${type}","messageId":${JSON.stringify(messageId)},"delta":`
    source.block = { isText, id: messageId, before }
  }

  #blockStarted({ tag, at }: Source, { isText, id: messageId }: Pick<Block, 'isText' | 'id'>): void {
    if (isText) {
      const name = at.agent
      return this.#send({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', name, ...tag })
    }
    this.#send({ type: 'REASONING_START', messageId, ...tag })
    this.#send({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...tag })
  }

  #callStarted(
    toolCallId: string,
    toolCallName: string,
    parentMessageId: string | undefined,
    { tag }: Source,
  ): void {
    this.#send({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId, ...tag })
  }

  #close(source: Source): void {
    if (source.block === undefined) return
    const { isText, id: messageId } = source.block
    source.block = undefined
    if (isText) return this.#send({ type: 'TEXT_MESSAGE_END', messageId })
    this.#send({ type: 'REASONING_MESSAGE_END', messageId })
    this.#send({ type: 'REASONING_END', messageId })
  }

  #begin(event: EventFacts, toolCallId: string, toolCallName: string): void {
    // The call begins again after the event `resumed`.
    if (this.#calls.has(toolCallId)) return
    const isKnown = this.#run.calls?.has(toolCallId) === true
    const source = this.#sourceOf(event)
    if (!isKnown) {
      this.#close(source)
      source.message ??= this.#nextId()
      this.#callStarted(toolCallId, toolCallName, source.message, source)
    }
    this.#calls.set(toolCallId, {
      source,
      message: source.message,
      args: this.#run.mayResume ? new SentText() : undefined,
      hasArgs: false,
      isReady: isKnown,
    })
    trim(this.#calls, (_, oldest) => this.#drop(oldest))
  }

  #argsDelta(toolCallId: string, piece: string): void {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || call.isReady) return
    const delta = call.args ? call.args.add(piece) : piece
    if (delta === '') return
    call.hasArgs = true
    this.#send({ type: 'TOOL_CALL_ARGS', toolCallId, delta })
  }

  #ready(toolCallId: string, args: unknown): void {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || call.isReady) return
    if (!call.hasArgs && args !== undefined) this.#argsDelta(toolCallId, textOf(args))
    call.isReady = true
    this.#send({ type: 'TOOL_CALL_END', toolCallId })
  }

  #result(toolCallId: string, content: string, error: string | undefined): void {
    const call = this.#calls.get(toolCallId)
    if (call === undefined) return
    this.#drop(toolCallId, error)
    const { source, message } = call
    if (source.message === message) source.message = undefined
    if (this.#run.results?.has(toolCallId)) return
    const messageId = this.#nextId()
    this.#send({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool', ...source.tag })
  }

  /** Closes a call, and everything inside of it. */
  #drop(toolCallId: string, error?: string): void {
    this.#leave(toolCallId, error)
    this.#ready(toolCallId, undefined)
    this.#calls.delete(toolCallId)
  }

  /** Closes everything inside of a step or a call. */
  #leave(parentId: string, error?: string): void {
    const left = this.#subagents?.inside(parentId) ?? []
    for (const [key, source] of this.#sources) {
      if (source.at.parentId !== parentId && !left.includes(source.tag.subagentRunId)) continue
      this.#close(source)
      this.#sources.delete(key)
    }
    this.#subagents?.finish(left, error)
  }

  #step(event: StepEvent & EventFacts): void {
    const { id, name, status, error } = event
    const key = id ?? name
    if (status === 'progress') {
      const { type: _, at: __, ...progress } = event
      this.#out += custom('step', progress)
      return
    }
    const before = this.#steps.get(key)
    if (before !== undefined) this.#endStep(before, error)
    if (status !== 'started') return
    const source = this.#sourceOf(event)
    this.#close(source)
    const step = { source, key, name: this.#freeName(name) }
    this.#steps.set(key, step)
    this.#stepStarted(step.name, source)
    trim(this.#steps, oldest => this.#endStep(oldest))
  }

  #stepStarted(stepName: string, { tag }: Source): void {
    this.#send({ type: 'STEP_STARTED', stepName, ...tag })
  }

  #endStep({ key, name: stepName, source }: OpenStep, error?: string): void {
    this.#leave(key, error)
    this.#steps.delete(key)
    const metadata = error === undefined ? error : { servable: { error } }
    this.#send({ type: 'STEP_FINISHED', stepName, ...source.tag, metadata })
  }

  /** Returns a name that no open step has, because clients identify steps only by name. */
  #freeName(name: string): string {
    const taken = new Set(Array.from(this.#steps.values(), step => step.name))
    let free = name
    for (let count = 2; taken.has(free); count++) free = `${name} (${count})`
    return free
  }

  #artifact({ type: _, at: __, ...artifact }: ArtifactEvent & EventFacts): void {
    const { artifactId, append = false, parts } = artifact
    const data = parts.flatMap(part => (part.type === 'data' ? [part.data] : []))
    const isState = artifactId === STATE && data.length === parts.length && data.length > 0
    this.#out +=
      (isState && (append ? deltasOf(data) : sseData({ type: 'STATE_SNAPSHOT', snapshot: data[0] }))) ||
      custom('artifact', artifact)
  }

  /** Prepares for the repeated text and arguments of a run that resumes. */
  #resume(): void {
    this.#closeSources()
    this.#text?.resume()
    for (const call of this.#calls.values()) call.args?.resume()
  }

  #finish(event: FinishEvent): void {
    const end = sseData(finished(event, this.#run))
    this.#closeAll(undefined, event.requests !== undefined)
    this.#out += end
  }

  #closeAll(error: string | undefined, isWaiting?: boolean): void {
    for (const toolCallId of this.#calls.keys()) this.#ready(toolCallId, undefined)
    this.#closeSources(error, isWaiting)
  }

  /** Closes text, steps and subagents. */
  #closeSources(error?: string, isWaiting?: boolean): void {
    for (const source of this.#sources.values()) this.#close(source)
    this.#sources.clear()
    this.#subagents?.finish(undefined, error, isWaiting)
    for (const step of [...this.#steps.values()].reverse()) this.#endStep(step)
  }
}

function keyOf({ agent = '', parentId = '' }: EventFacts): string {
  return `${agent}\n${parentId}`
}

/** Text as it is, anything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
}
