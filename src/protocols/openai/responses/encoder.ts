/**
 * Encodes a run for Responses: as events, or as one object. The same events of a run give the same output with the same numbers.
 *
 * @module
 */

import type { InputRequest, RunEvent } from '../../../core-entry.ts'
import { sseData } from '../../../web/sse.ts'
import {
  AnswerEncoder,
  type AnswerOptions,
  type LastEvent,
  type OutputKind,
  textOf,
} from '../../models/answer-encoder.ts'
import type { Fields } from '../../models/body.ts'
import { approvalIdOf, callIdOf, idOf } from '../../models/ids.ts'
import { type RanCall, RanCalls } from '../../models/ran-calls.ts'
import { objectOf, type ResponseOutcome, type ResponseRequest } from './object.ts'

/** The facts that a response contains or depends on. */
export interface ResponseOptions extends ResponseRequest, AnswerOptions {
  /** Whether the response contains the calls of tools that ran here. */
  readonly toolCalls: 'mcp_call' | 'hidden'
  /** Whether the response is answered before its run begins. */
  readonly isQueued?: boolean
  /** The requests that were answered before this run. */
  readonly answered: readonly InputRequest[]
  /** The number of the last event that the client has. Default: -1, for none. */
  readonly after?: number | undefined
}

/** An item of the output. */
type Item = { readonly id: string; readonly type: string } & Fields

/** The open item. */
interface Open {
  readonly type: OutputKind
  readonly id: string
  readonly index: number
  text: string
}

/** The names and forms of each kind of text. */
const FORMS = {
  message: {
    prefix: 'msg',
    part: 'content_part',
    text: 'output_text',
    index: 'content_index',
    more: { logprobs: [] },
    made: (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
    item: (status: string, content: readonly object[]) => ({ role: 'assistant', status, content }),
  },
  reasoning: {
    prefix: 'rs',
    part: 'reasoning_summary_part',
    text: 'reasoning_summary_text',
    index: 'summary_index',
    more: {},
    made: (text: string) => ({ type: 'summary_text', text }),
    item: (_: string, summary: readonly object[]) => ({ summary }),
  },
} as const

/** Encodes the events of one run. */
export class ResponseEncoder extends AnswerEncoder<ResponseOptions> {
  readonly #output: Item[] = []
  /** Calls of tools, with the answered request for an approval, if there was one. */
  readonly #calls = new RanCalls<InputRequest>()
  #sequence = 0
  #open: Open | undefined
  #outcome: ResponseOutcome

  constructor(about: ResponseOptions) {
    super(about)
    this.#outcome = { status: about.isQueued ? 'queued' : 'in_progress' }
    for (const request of about.answered) {
      const { id, toolCallId = id, toolName: name = '', args = {} } = request
      if (request.kind === 'approval') this.#calls.add(toolCallId, name, args, request)
    }
  }

  get answer(): object {
    return objectOf(this.about, this.#outcome, this.#output)
  }

  begin(): string {
    const response = this.answer
    return this.#event('created', { response }) + this.#event('in_progress', { response })
  }

  protected writeText(type: OutputKind, text: string): string {
    const form = FORMS[type]
    let before = ''
    let open = this.#open
    if (open?.type !== type) {
      before = this.#close()
      const index = this.#output.length
      open = { type, id: this.#idAt(form.prefix, index), index, text: '' }
      this.#open = open
      const part = form.made('')
      before +=
        this.#add(this.#itemOf(open, 'in_progress', [])) + this.#part(open, `${form.part}.added`, { part })
    }
    open.text += text
    return before + this.#part(open, `${form.text}.delta`, { delta: text, ...form.more })
  }

  protected override writeOther(event: RunEvent): string {
    const ran = this.#calls.take(event)
    return ran === undefined || this.about.toolCalls === 'hidden' ? '' : this.#ran(ran)
  }

  /** Sends the call of a tool that ran here. */
  #ran({ id, name, args: given, more: approval, result, error }: RanCall<InputRequest>): string {
    const args = textOf(given)
    const output = error === undefined ? textOf(result ?? null) : null
    this.grow(args + output)
    const status = error === undefined ? 'completed' : 'failed'
    const approval_request_id = approval ? approvalIdOf(runOfRequest(approval), id) : null
    const item = { type: 'mcp_call', server_label: 'servable', name, arguments: args, output }
    return this.#wholeItem(
      'mcp',
      { ...item, error: error ?? null, status, approval_request_id },
      { arguments: '', output: null, error: null, status: 'in_progress' },
      {
        'mcp_call.in_progress': {},
        'mcp_call_arguments.done': { arguments: args },
        [`mcp_call.${status}`]: {},
      },
    )
  }

  protected writeRequest(
    { id, kind, toolCallId = id, toolName: name }: InputRequest,
    args: string,
  ): string | undefined {
    if (kind === 'question') return undefined
    const { runId } = this.about
    const call = { name, arguments: args }
    if (kind === 'approval') {
      const item = { type: 'mcp_approval_request', server_label: 'servable', ...call }
      return this.#wholeItem('mcpr', { ...item, id: approvalIdOf(runId, toolCallId) })
    }
    const item = { type: 'function_call', call_id: callIdOf(runId, toolCallId), ...call, status: 'completed' }
    return this.#wholeItem(
      'fc',
      item,
      { arguments: '', status: 'in_progress' },
      {
        'function_call_arguments.delta': { delta: args },
        'function_call_arguments.done': call,
      },
    )
  }

  /** Sends an item at once: its first form, the events `between`, and its whole form. */
  #wholeItem(
    prefix: string,
    whole: Fields & { readonly type: string },
    first: object = {},
    between: Readonly<Record<string, object>> = {},
  ): string {
    let output = this.#close()
    const index = this.#output.length
    const item = { id: this.#idAt(prefix, index), ...whole }
    output += this.#add({ ...item, ...first })
    for (const [name, fields] of Object.entries(between)) output += this.#at(index, name, fields)
    return output + this.#done(index, item)
  }

  protected writeEnd(end: LastEvent): string {
    const before = this.#close()
    this.#outcome = this.#outcomeOf(end)
    const { status } = this.#outcome
    const last = this.#event(status === 'cancelled' ? 'incomplete' : status, { response: this.answer })
    return before + last + (last && 'data: [DONE]\n\n')
  }

  #outcomeOf(end: LastEvent): ResponseOutcome {
    const { promptTokens, completionTokens, totalTokens } = this.usage
    const common = {
      afterMs: (end as RunEvent).at,
      usage: {
        input_tokens: promptTokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: completionTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: totalTokens,
      },
    }
    if (end.type === 'error')
      return { ...common, status: 'failed', error: { code: end.code, message: end.error } }
    if (end.finishReason === 'cancelled') return { ...common, status: 'cancelled' }
    const { cut } = this
    if (cut === undefined) return { ...common, status: 'completed' }
    const reason = cut === 'length' ? 'max_output_tokens' : cut
    return { ...common, status: 'incomplete', incomplete_details: { reason } }
  }

  #event(name: string, fields: object): string {
    const sequence_number = this.#sequence++
    const { isStream, after = -1 } = this.about
    if (!isStream || sequence_number <= after) return ''
    const type = `response.${name}`
    return `event: ${type}\n${sseData({ type, sequence_number, ...fields })}`
  }

  /** Sends an event of an item. */
  #at(output_index: number, name: string, fields?: object): string {
    return this.#event(name, { item_id: this.#output[output_index]?.id, output_index, ...fields })
  }

  #part({ type, index }: Open, name: string, fields: object): string {
    return this.#at(index, name, { [FORMS[type].index]: 0, ...fields })
  }

  #add(item: Item): string {
    return this.#event('output_item.added', { output_index: this.#output.push(item) - 1, item })
  }

  #done(output_index: number, item: Item): string {
    this.#output[output_index] = item
    return this.#event('output_item.done', { output_index, item })
  }

  /** Ends the open item. */
  #close(): string {
    const open = this.#open
    if (open === undefined) return ''
    this.#open = undefined
    const { type, index, text } = open
    const form = FORMS[type]
    const part = form.made(text)
    return (
      this.#part(open, `${form.text}.done`, { text, ...form.more }) +
      this.#part(open, `${form.part}.done`, { part }) +
      this.#done(index, this.#itemOf(open, 'completed', [part]))
    )
  }

  #itemOf({ type, id }: Open, status: string, parts: readonly object[]): Item {
    return { type, id, ...FORMS[type].item(status, parts) }
  }

  #idAt(prefix: string, index: number): string {
    return idOf(prefix, this.about.runId, `_${index}`)
  }
}

/** The run of a request. The request's id begins with the run's id. */
function runOfRequest({ id }: InputRequest): string {
  return id.split('/', 1)[0] ?? ''
}
