/**
 * Responses that are kept: each is a stored run with what it was asked with, and its log tells its output again.
 *
 * @module
 */

import type { HistoryMessage } from '../../agents/contract.ts'
import type { Core } from '../../core/built-in.ts'
import { ofLogs } from '../../encoders/encoder.ts'
import { isServableError, ServableError } from '../../errors.ts'
import type { RequestState } from '../../http/context.ts'
import type { Viewer } from '../../runs/host.ts'
import type { Asked } from '../../runs/journal.ts'
import type { RunRecord } from '../../runs/record.ts'
import type { SseSource } from '../../web/sse.ts'
import type { Fields } from '../body.ts'
import { readThrough } from '../ending.ts'
import { idOf, runOf } from '../ids.ts'
import { type About, ResponseEncoder } from './encoder.ts'
import { formatOf } from './object.ts'

/** Runs that go on from each other, each with answers. */
const MAX_CHAIN = 100

/** A kept response. */
export interface KeptResponse {
  readonly record: RunRecord
  readonly asked: Asked
  /** What the client sent beside its input and tools. */
  readonly told: Fields
}

/** How responses are told. */
export type Telling = Pick<About, 'toolCalls' | 'maxLength'>

/** See the module's head. */
export class KeptResponses {
  readonly #core: Core
  readonly #telling: Telling

  constructor(core: Core, telling: Telling) {
    this.#core = core
    this.#telling = telling
  }

  /** Throws `run_not_found` for one that is not kept, and for another owner's. */
  async find(id: string, viewer: Viewer): Promise<KeptResponse> {
    const runId = runOf(id) ?? ''
    const { host } = this.#core
    if (runId !== '' && id === idOf('resp', runId)) {
      const record = await host.get(runId, viewer)
      const asked = await host.asked(runId, viewer).catch(unlessNotKept)
      const told = asked?.options.metadata?.openai as Fields | undefined
      if (asked !== undefined && typeof told?.model === 'string') return { record, asked, told }
    }
    throw new ServableError('run_not_found', 'There is no such response')
  }

  /** The response object, as far as the run has come. */
  async read(kept: KeptResponse, request: Request, state: RequestState): Promise<object> {
    const encoder = this.#encoderOf(kept, Number.POSITIVE_INFINITY)
    if (kept.record.status !== 'running') {
      await readThrough(await this.#log(kept, encoder, request, state), request.signal)
    }
    return encoder.response
  }

  /** Its events after one. */
  async stream(
    kept: KeptResponse,
    after: number,
    request: Request,
    state: RequestState,
  ): Promise<{ readonly head: string; readonly source: SseSource }> {
    const encoder = this.#encoderOf(kept, after)
    return { head: encoder.begin(), source: await this.#log(kept, encoder, request, state) }
  }

  /** What was said before the next one: up to a response, and in it. */
  async historyOf({ record, asked, told }: KeptResponse, viewer: Viewer): Promise<HistoryMessage[]> {
    const { history = [] } = asked.options
    const [first] = history
    const hasInstructions = typeof told.instructions === 'string' && first?.role === 'system'
    const said = saidBy(record)
    let from = record.continuedFrom
    for (let count = 0; from !== undefined && count < MAX_CHAIN; count++) {
      const before: RunRecord | undefined = await this.#core.host.get(from, viewer).catch(unlessGone)
      if (before === undefined) break
      said.unshift(...saidBy(before))
      from = before.continuedFrom
    }
    return [...history.slice(hasInstructions ? 1 : 0), { role: 'user', content: asked.input }, ...said]
  }

  #log(kept: KeptResponse, encoder: ResponseEncoder, request: Request, state: RequestState) {
    return ofLogs([kept.record.id], encoder, this.#core, request, state)
  }

  #encoderOf({ record, asked, told }: KeptResponse, after: number): ResponseEncoder {
    return new ResponseEncoder({
      ...this.#telling,
      runId: record.id,
      createdMs: Date.parse(record.createdAt),
      ...{ told, after, isKept: true, isStored: true },
      clientTools: asked.options.clientTools,
      previous: previousOf(record, told),
      isBackground: asked.isBackground === true,
      isJson: formatOf(told.text).type !== 'text',
      answered: asked.continues?.work.answered.map(({ request }) => request) ?? [],
    })
  }
}

/** The id of the response that one goes on from. */
export function previousOf(
  { continuedFrom }: Pick<RunRecord, 'continuedFrom'>,
  { previous_response_id: previous }: Fields,
): string | undefined {
  if (continuedFrom !== undefined) return idOf('resp', continuedFrom)
  return typeof previous === 'string' ? previous : undefined
}

/** What a run has said: its text after the calls that have a result. */
export function saidBy({ result }: Pick<RunRecord, 'result'>): HistoryMessage[] {
  if (result === undefined) return []
  const { toolCalls, structured } = result
  const text = result.text === '' && structured !== null ? JSON.stringify(structured) : result.text
  const done = toolCalls.filter(call => 'result' in call || call.error !== undefined)
  const calls = done.map(({ toolCallId, toolName, args }) => ({ toolCallId, toolName, args }))
  return [
    ...(calls.length > 0 ? [{ role: 'assistant' as const, toolCalls: calls }] : []),
    ...done.map(({ toolCallId, toolName, result: given, error }) => ({
      ...{ role: 'tool' as const, toolCallId, toolName },
      result: error === undefined ? given : { error },
    })),
    { role: 'assistant', content: text },
  ]
}

function unlessNotKept(error: unknown): undefined {
  if (!isServableError(error) || error.code !== 'input_not_kept') throw error
}

function unlessGone(error: unknown): undefined {
  if (!isServableError(error) || error.code !== 'run_not_found') throw error
}
