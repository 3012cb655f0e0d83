/**
 * A run in the words of Responses: as events, or as one object. The same events give the same again, with the same numbers.
 *
 * @module
 */

import type { ContentPart, FinishEvent, InputRequest, RunEvent, Usage } from '../../agents/contract.ts'
import type { Encoder } from '../../encoders/encoder.ts'
import { ToldText } from '../../encoders/told-text.ts'
import type { Fields } from '../body.ts'
import { cutBy, type End, questionsOf, Size } from '../ending.ts'
import { approvalIdOf, callIdOf, idOf } from '../ids.ts'
import { sayingOf } from '../parts.ts'
import { type Asked, type Outcome, objectOf } from './object.ts'

/** What a response is about, and who reads it. */
export interface About extends Asked {
  /** How calls of tools are told that ran here. */
  readonly toolCalls: 'mcp_call' | 'hidden'
  /** The answer is the structured output. */
  readonly isJson: boolean
  /** The run is a stored one, which may go on after a crash and say its text again. */
  readonly isStored: boolean
  /** Most characters of a response. */
  readonly maxLength: number
  /** What was answered for this run: its calls were told before. */
  readonly answered: readonly InputRequest[]
  /** The number of the last event that its reader has: -1 for none, and infinity for one who reads no events. */
  readonly after: number
}

type Spoken = 'message' | 'reasoning'

/** An item of the output. */
type Item = { readonly id: string; readonly type: string } & Fields

/** The item that is being said. */
interface Open {
  readonly type: Spoken
  readonly agent: string
  readonly index: number
  readonly id: string
  /** What all its deltas have, as members of JSON: they are most of a stream. */
  readonly ofDeltas: string
  text: string
}

/** A call without an end. */
interface Call {
  readonly name: string
  /** Its place in the output, where the client runs the tool: it is told as it comes. */
  readonly index?: number
  args: string
  isReady: boolean
  /** The approval of it that was asked for. */
  readonly approvalId?: string
}

const DONE = 'data: [DONE]\n\n'

/** See the module's head. */
export class ResponseEncoder implements Encoder {
  readonly #about: About
  readonly #output: Item[] = []
  readonly #calls = new Map<string, Call>()
  /** Calls of tools of the client that it has answered. */
  readonly #known = new Set<string>()
  readonly #told = new Map<string, ToldText>()
  readonly #size: Size
  #sequence = -1
  #open: Open | undefined
  #hasSaid = false
  #end: End | undefined
  #outcome: Outcome = { status: 'in_progress' }

  constructor(about: About) {
    this.#about = about
    this.#size = new Size(about.maxLength)
    for (const { id, kind, toolCallId = id, toolName: name = '', args } of about.answered) {
      if (kind === 'client_tool') this.#known.add(toolCallId)
      else if (kind === 'approval') {
        const runId = id.split('/', 1)[0] ?? ''
        this.#calls.set(toolCallId, {
          ...{ name, args: textOf(args), isReady: true },
          approvalId: approvalIdOf(runId, toolCallId),
        })
      }
    }
  }

  /** How the run has ended. */
  get end(): End | undefined {
    return this.#end
  }

  /** The response, as far as it is told. */
  get response(): object {
    return objectOf(this.#about, this.#outcome, this.#output)
  }

  /** The response as it begins. */
  get queued(): object {
    return objectOf(this.#about, { status: 'queued' }, [])
  }

  /** The events before the first one of the run. */
  begin(): string {
    const { isBackground } = this.#about
    const { response } = this
    const first = isBackground ? this.queued : response
    return (
      this.#tell('response.created', { response: first }) +
      (isBackground ? this.#tell('response.queued', { response: first }) : '') +
      this.#tell('response.in_progress', { response })
    )
  }

  encode(event: RunEvent): string {
    switch (event.type) {
      case 'text':
        return this.#about.isJson ? '' : this.#say('message', event.text, event.agent)
      case 'thinking':
        return this.#say('reasoning', event.text, event.agent)
      case 'message':
        return this.#message(event.parts, event.agent)
      case 'tool_call_start':
        return this.#begin(event.toolCall.id, event.toolCall.name, event.isClientTool)
      case 'tool_call_delta':
        // A stored run may tell them again.
        return this.#about.isStored ? '' : this.#argue(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'tool_call_end':
        return this.#called(event)
      case 'resumed':
        for (const told of this.#told.values()) told.resume()
        return ''
      case 'finish':
        return this.#finish(event)
      case 'error': {
        const { code, error: message } = event
        return this.#over(event, 'failed', { status: 'failed', error: { code, message } })
      }
      default:
        return ''
    }
  }

  #tell(type: string, fields: object): string {
    return this.#isNew() ? this.#event(type, membersOf(fields)) : ''
  }

  /** Counts an event. Whether its reader does not have it yet. */
  #isNew(): boolean {
    return ++this.#sequence > this.#about.after
  }

  #event(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence},${members}}\n\n`
  }

  #say(type: Spoken, text: string, agent = ''): string {
    const told = this.#toldBy(type, agent)
    const fresh = told?.add(text) ?? text
    if (fresh === '') return ''
    this.#size.add(fresh)
    let before = ''
    if (this.#open?.type !== type || this.#open.agent !== agent || told?.isOther) {
      before = this.#close() + this.#openItem(type, agent)
    }
    const open = this.#open!
    open.text += fresh
    if (type === 'message') this.#hasSaid = true
    return before + this.#delta(open, fresh)
  }

  /** What was said; only of a run that may say it again. */
  #toldBy(type: Spoken, agent: string): ToldText | undefined {
    if (!this.#about.isStored) return undefined
    const key = `${type} ${agent}`
    const told = this.#told.get(key) ?? new ToldText()
    this.#told.set(key, told)
    return told
  }

  #delta({ type, ofDeltas }: Open, delta: string): string {
    if (!this.#isNew()) return ''
    const name = type === 'message' ? 'output_text' : 'reasoning_summary_text'
    return this.#event(`response.${name}.delta`, `${ofDeltas},"delta":${JSON.stringify(delta)}`)
  }

  #openItem(type: Spoken, agent: string): string {
    const index = this.#output.length
    const isMessage = type === 'message'
    const id = idOf(isMessage ? 'msg' : 'rs', this.#about.runId, index)
    const place = { item_id: id, output_index: index }
    const at = isMessage ? { ...place, content_index: 0 } : { ...place, summary_index: 0 }
    const ofDeltas = membersOf(isMessage ? { ...at, logprobs: [] } : at)
    this.#open = { type, agent, index, id, ofDeltas, text: '' }
    return (
      this.#add(itemOf(this.#open, 'in_progress')) +
      (isMessage
        ? this.#tell('response.content_part.added', { ...at, part: partOf('') })
        : this.#tell('response.reasoning_summary_part.added', {
            ...at,
            part: { type: 'summary_text', text: '' },
          }))
    )
  }

  /** Ends what is being said. */
  #close(): string {
    const open = this.#open
    if (open === undefined) return ''
    this.#open = undefined
    const { type, id: item_id, index: output_index, text } = open
    const place = { item_id, output_index }
    const item = itemOf(open, 'completed')
    if (type === 'message') {
      const at = { ...place, content_index: 0 }
      return (
        this.#tell('response.output_text.done', { ...at, text, logprobs: [] }) +
        this.#tell('response.content_part.done', { ...at, part: partOf(text) }) +
        this.#done(output_index, item)
      )
    }
    const at = { ...place, summary_index: 0 }
    return (
      this.#tell('response.reasoning_summary_text.done', { ...at, text }) +
      this.#tell('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } }) +
      this.#done(output_index, item)
    )
  }

  #add(item: Item): string {
    return this.#tell('response.output_item.added', { output_index: this.#output.push(item) - 1, item })
  }

  #done(output_index: number, item: Item): string {
    this.#output[output_index] = item
    return this.#tell('response.output_item.done', { output_index, item })
  }

  #message(parts: readonly ContentPart[], agent: string | undefined): string {
    const text = this.#about.isJson ? '' : parts.map(sayingOf).join('')
    return this.#say('message', text, agent)
  }

  #begin(toolCallId: string, name: string, isOfClient = false): string {
    if (this.#calls.has(toolCallId) || this.#known.has(toolCallId)) return ''
    if (!isOfClient) {
      this.#calls.set(toolCallId, { name, args: '', isReady: false })
      return ''
    }
    const before = this.#close()
    const index = this.#output.length
    const call = { name, index, args: '', isReady: false }
    this.#calls.set(toolCallId, call)
    return before + this.#add(this.#functionCall(toolCallId, call))
  }

  #functionCall(toolCallId: string, { name, args, index, isReady }: Call): Item {
    const { runId } = this.#about
    return {
      type: 'function_call',
      id: idOf('fc', runId, index),
      call_id: callIdOf(runId, toolCallId),
      name,
      arguments: args,
      status: isReady ? 'completed' : 'in_progress',
    }
  }

  #argue(toolCallId: string, delta: string): string {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || call.isReady || delta === '') return ''
    this.#size.add(delta)
    call.args += delta
    if (call.index === undefined) return ''
    const item_id = idOf('fc', this.#about.runId, call.index)
    return this.#tell('response.function_call_arguments.delta', { item_id, output_index: call.index, delta })
  }

  #ready(toolCallId: string, args: unknown): string {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || call.isReady) return ''
    const told = call.args === '' ? this.#argue(toolCallId, textOf(args)) : ''
    call.isReady = true
    if (call.index === undefined) return told
    const item = this.#functionCall(toolCallId, call)
    const { id: item_id } = item
    const facts = { item_id, output_index: call.index, name: call.name, arguments: call.args }
    return told + this.#tell('response.function_call_arguments.done', facts) + this.#done(call.index, item)
  }

  /** A tool that ran here is told once it has: before that it may turn out to need an approval. */
  #called({ toolCallId, result, error }: Extract<RunEvent, { type: 'tool_call_end' }>): string {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || call.index !== undefined) return ''
    const output = error === undefined ? textOf(result ?? null) : null
    this.#calls.delete(toolCallId)
    if (this.#about.toolCalls === 'hidden') return ''
    this.#size.add(output ?? '')
    const index = this.#output.length
    const { name, args, approvalId: approval_request_id = null } = call
    const item = {
      type: 'mcp_call',
      id: idOf('mcp', this.#about.runId, index),
      ...{ server_label: 'servable', name, approval_request_id },
    }
    const place = { item_id: item.id, output_index: index }
    const status = error === undefined ? 'completed' : 'failed'
    return (
      this.#close() +
      this.#add({ ...item, arguments: '', output: null, error: null, status: 'in_progress' }) +
      this.#tell('response.mcp_call.in_progress', place) +
      this.#tell('response.mcp_call_arguments.done', { ...place, arguments: args }) +
      this.#tell(`response.mcp_call.${status}`, place) +
      this.#done(index, { ...item, arguments: args, output, error: error ?? null, status })
    )
  }

  #finish(event: FinishEvent): string {
    const { finishReason, requests = [], structured } = event
    let told = ''
    for (const request of requests) told += this.#ask(request)
    const questions = questionsOf(requests.filter(({ kind }) => kind === 'question'))
    const json = structured && (this.#about.isJson || !this.#hasSaid) ? JSON.stringify(structured) : ''
    told += this.#say('message', json) + this.#close() + this.#say('message', questions)
    if (finishReason === 'cancelled') return told + this.#over(event, 'incomplete', { status: 'cancelled' })
    const cut = cutBy(finishReason)
    if (cut === undefined) return told + this.#over(event, 'completed', { status: 'completed' })
    const reason = cut === 'length' ? 'max_output_tokens' : cut
    return told + this.#over(event, 'incomplete', { status: 'incomplete', incomplete_details: { reason } })
  }

  /** What the client is to answer. */
  #ask({ id, kind, toolCallId = id, toolName: name = '', args }: InputRequest): string {
    if (kind === 'client_tool') return this.#begin(toolCallId, name, true) + this.#ready(toolCallId, args)
    if (kind === 'question') return ''
    const item = {
      type: 'mcp_approval_request',
      id: approvalIdOf(this.#about.runId, toolCallId),
      ...{ server_label: 'servable', name, arguments: textOf(args) },
    }
    return this.#close() + this.#add(item) + this.#done(this.#output.length - 1, item)
  }

  #over(end: End, type: string, outcome: Outcome): string {
    const told = this.#close()
    this.#end = end
    const usage = usageOf('usage' in end ? end.usage : undefined)
    this.#outcome = { ...outcome, usage, afterMs: (end as RunEvent).at }
    const last = this.#tell(`response.${type}`, { response: this.response })
    return told + last + (last && DONE)
  }
}

/** The members of an object as JSON, without its braces. */
function membersOf(fields: object): string {
  return JSON.stringify(fields).slice(1, -1)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function partOf(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function itemOf({ type, id, text }: Open, status: string): Item {
  const isOver = status === 'completed'
  if (type === 'reasoning') return { type, id, summary: isOver ? [{ type: 'summary_text', text }] : [] }
  return { type, id, role: 'assistant', status, content: isOver ? [partOf(text)] : [] }
}

function usageOf({ promptTokens = 0, completionTokens = 0, totalTokens = 0 }: Partial<Usage> = {}): object {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: totalTokens,
  }
}
