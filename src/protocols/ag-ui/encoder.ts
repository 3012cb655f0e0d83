/**
 * A run as events of AG-UI. All clients check their order: what is open is closed before the end, and an id is open once.
 *
 * @module
 */

import type {
  ArtifactEvent,
  ContentPart,
  EventFacts,
  FinishEvent,
  RunEvent,
  StepEvent,
} from '../../agents/contract.ts'
import { lastWordsOf } from '../../agents/work/last-words.ts'
import { isObject } from '../../base/validation.ts'
import { sseData } from '../../web/sse.ts'
import type { Encoder } from '../encoders/encoder.ts'
import { ToldText } from '../encoders/told-text.ts'
import { idIn, type Known } from './answers.ts'
import { finished } from './finish.ts'
import { type Named, Subagents, type Tag } from './subagents.ts'
import { trim } from './trim.ts'

/** Which run is told, and to whom. */
export interface AgUiRun extends Named, Known {
  /** The client speaks 1.0: it knows subagents, which members of a team and agents of a workflow are, and all outcomes. */
  readonly isVersion1?: boolean
  /** The run may say the event `resumed`. */
  readonly mayResume?: boolean
}

/** The id of the artifact that is the state of an agent. */
const STATE = 'state'

/** Text or thinking that goes on. */
interface Block {
  readonly isText: boolean
  readonly id: string
  /** All of a message before its delta. */
  readonly before: string
}

/** Who speaks, and where: a block at a time is open of each. */
interface Source {
  readonly at: EventFacts
  readonly tag: Tag
  block?: Block | undefined
  /** The message that calls of tools belong to, until one of them has a result. */
  message?: string | undefined
}

interface Call {
  readonly source: Source
  readonly message: string | undefined
  readonly args: ToldText | undefined
  hasArgs: boolean
  /** The client knows all of its arguments. */
  isReady: boolean
}

interface Step {
  readonly source: Source
  readonly key: string
  /** As the client knows it: no other open step has this name. */
  readonly name: string
}

/** See the module's head. */
export class AgUiEncoder implements Encoder {
  readonly #run: AgUiRun
  readonly #text: ToldText | undefined
  readonly #sources = new Map<string, Source>()
  readonly #calls = new Map<string, Call>()
  readonly #steps = new Map<string, Step>()
  readonly #subagents: Subagents | undefined
  #ids = 0
  #out = ''

  constructor(run: AgUiRun) {
    this.#run = run
    if (run.mayResume) this.#text = new ToldText()
    if (run.isVersion1) this.#subagents = new Subagents(run, event => this.#tell(event))
  }

  encode(event: RunEvent): string {
    this.#out = ''
    this.#add(event)
    return this.#out
  }

  /** What cannot be JSON throws before anything has changed. */
  #add(event: RunEvent): void {
    switch (event.type) {
      case 'text':
        return this.#say(event, event.text, true)
      case 'thinking':
        return this.#say(event, event.text, false)
      case 'message':
        return this.#message(event, event.parts)
      case 'tool_call_start':
        return this.#begin(event, event.toolCall.id, event.toolCall.name)
      case 'tool_call_delta':
        return this.#argue(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'tool_call_end':
        return this.#result(event.toolCallId, event.error ?? textOf(event.result), event.error)
      case 'step':
        return this.#step(event)
      case 'artifact':
        return this.#artifact(event)
      case 'resumed':
        return this.#again()
      case 'finish': {
        const words = lastWordsOf(event)
        if (words !== undefined) this.#message({}, words.parts)
        return this.#finish(event)
      }
      case 'error': {
        const { error: message, code } = event
        this.#closeAll(message)
        return this.#tell({ type: 'RUN_ERROR', message, code })
      }
      case 'model_call':
    }
  }

  #tell(event: object): void {
    this.#out += sseData(event)
  }

  #nextId(): string {
    return idIn(this.#run.runId, ++this.#ids)
  }

  #say(at: EventFacts, said: string, isText: boolean): void {
    const text = isText && this.#text ? this.#text.add(said) : said
    if (text === '') return
    const source = this.#sourceOf(at)
    if (source.block?.isText !== isText) this.#open(source, isText)
    this.#out += `${source.block?.before}${JSON.stringify(text)}}\n\n`
  }

  /** A message of its own. */
  #message(event: EventFacts, parts: readonly ContentPart[]): void {
    const others = parts.filter(({ type }) => type !== 'text')
    const told = others.length === 0 ? '' : custom('message', { parts: others })
    const source = this.#sourceOf(event)
    this.#close(source)
    for (const part of parts) if (part.type === 'text') this.#say(event, part.text, true)
    this.#close(source)
    this.#out += told
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
    const placeOf = (id: string) => {
      const call = this.#calls.get(id)
      return call ? { ...call.source.at, isCall: true } : this.#steps.get(id)?.source.at
    }
    return this.#subagents?.at(at, placeOf) ?? {}
  }

  #open(source: Source, isText: boolean): void {
    this.#close(source)
    const messageId = this.#nextId()
    const { tag, at } = source
    if (isText) {
      source.message = messageId
      const name = at.agent
      this.#tell({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', name, ...tag })
    } else {
      this.#tell({ type: 'REASONING_START', messageId, ...tag })
      this.#tell({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...tag })
    }
    const type = isText ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
    const before = `data: {"type":"${type}","messageId":${JSON.stringify(messageId)},"delta":`
    source.block = { isText, id: messageId, before }
  }

  #close(source: Source): void {
    if (source.block === undefined) return
    const { isText, id: messageId } = source.block
    source.block = undefined
    if (isText) return this.#tell({ type: 'TEXT_MESSAGE_END', messageId })
    this.#tell({ type: 'REASONING_MESSAGE_END', messageId })
    this.#tell({ type: 'REASONING_END', messageId })
  }

  #begin(event: EventFacts, toolCallId: string, toolCallName: string): void {
    // It begins again after the event `resumed`.
    if (this.#calls.has(toolCallId)) return
    const isKnown = this.#run.calls?.has(toolCallId) === true
    const source = this.#sourceOf(event)
    if (!isKnown) {
      this.#close(source)
      source.message ??= this.#nextId()
      const parentMessageId = source.message
      this.#tell({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId, ...source.tag })
    }
    this.#calls.set(toolCallId, {
      source,
      message: source.message,
      args: this.#run.mayResume ? new ToldText() : undefined,
      hasArgs: false,
      isReady: isKnown,
    })
    trim(this.#calls, (_, oldest) => this.#drop(oldest))
  }

  #argue(toolCallId: string, said: string): void {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || call.isReady) return
    const delta = call.args ? call.args.add(said) : said
    if (delta === '') return
    call.hasArgs = true
    this.#tell({ type: 'TOOL_CALL_ARGS', toolCallId, delta })
  }

  #ready(toolCallId: string, args: unknown): void {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || call.isReady) return
    if (!call.hasArgs && args !== undefined) this.#argue(toolCallId, textOf(args))
    call.isReady = true
    this.#tell({ type: 'TOOL_CALL_END', toolCallId })
  }

  #result(toolCallId: string, content: string, error: string | undefined): void {
    const call = this.#calls.get(toolCallId)
    if (call === undefined) return
    this.#drop(toolCallId, error)
    const { source, message } = call
    if (source.message === message) source.message = undefined
    if (this.#run.results?.has(toolCallId)) return
    const messageId = this.#nextId()
    this.#tell({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool', ...source.tag })
  }

  /** A call is over, and what was said inside of it. */
  #drop(toolCallId: string, error?: string): void {
    this.#leave(toolCallId, error)
    this.#ready(toolCallId, undefined)
    this.#calls.delete(toolCallId)
  }

  /** What is said inside of a step or a call is over. */
  #leave(place: string, error?: string): void {
    const left = this.#subagents?.inside(place) ?? []
    for (const [key, source] of this.#sources) {
      if (source.at.parentId !== place && !left.includes(source.tag.subagentRunId)) continue
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
    this.#tell({ type: 'STEP_STARTED', stepName: step.name, ...source.tag })
    trim(this.#steps, oldest => this.#endStep(oldest))
  }

  #endStep({ key, name: stepName, source }: Step, error?: string): void {
    this.#leave(key, error)
    this.#steps.delete(key)
    const metadata = error === undefined ? error : { servable: { error } }
    this.#tell({ type: 'STEP_FINISHED', stepName, ...source.tag, metadata })
  }

  /** Clients know steps by name alone. */
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

  /** All that was said comes again: text, and what has no end. */
  #again(): void {
    this.#closeSaid()
    this.#text?.resume()
    for (const call of this.#calls.values()) call.args?.resume()
  }

  #finish(event: FinishEvent): void {
    const told = sseData(finished(event, this.#run))
    this.#closeAll(undefined, event.requests !== undefined)
    this.#out += told
  }

  #closeAll(error: string | undefined, isWaiting?: boolean): void {
    for (const toolCallId of this.#calls.keys()) this.#ready(toolCallId, undefined)
    this.#closeSaid(error, isWaiting)
  }

  /** Closes text, steps and subagents. */
  #closeSaid(error?: string, isWaiting?: boolean): void {
    for (const source of this.#sources.values()) this.#close(source)
    this.#sources.clear()
    this.#subagents?.finish(undefined, error, isWaiting)
    for (const step of [...this.#steps.values()].reverse()) this.#endStep(step)
  }
}

function keyOf({ agent = '', parentId = '' }: EventFacts): string {
  return `${agent}\n${parentId}`
}

function custom(name: string, value: object): string {
  return sseData({ type: 'CUSTOM', name: `servable.${name}`, value })
}

/** The changes of a state; undefined where they are none. */
function deltasOf(patches: readonly unknown[]): string | undefined {
  if (!patches.every(isPatch)) return undefined
  return patches.map(delta => sseData({ type: 'STATE_DELTA', delta })).join('')
}

/** Whether a value looks like a JSON Patch (RFC 6902). */
function isPatch(value: unknown): boolean {
  return Array.isArray(value) && value.every(each => isObject(each) && typeof each.path === 'string')
}

/** Text as it is, anything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
}
