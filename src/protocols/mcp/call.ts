/**
 * `tools/call`: starts a run for a call, or continues one, and answers with its result.
 *
 * @module
 */

import type { InputRequest, Answer as RunAnswer, StepEvent } from '../../agents/contract.ts'
import { ignoring, isServableError, reportError, shouldLog } from '../../base/errors.ts'
import { isObject, misfit } from '../../base/validation.ts'
import { deferred, later } from '../../base/wake.ts'
import type { EndpointResult } from '../../http/context.ts'
import { StartedRun } from '../../http/runs/start-run.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import { jsonReply, sseReply } from '../../web/reply.ts'
import { counted } from '../../web/sse.ts'
import { askedForText, questionOf } from '../encoders/questions.ts'
import { answersTo, asksAll, formsOf, keyOf } from './asking.ts'
import { endOf, failed, textResult } from './content.ts'
import { checkHeader, checkParamHeaders, metaOf } from './era.ts'
import { askedOf, type Offered } from './offer.ts'
import { streamOf, within } from './progress.ts'
import type { CallContext, McpRequest } from './request.ts'
import { type Fields, INVALID_PARAMS, isId, RpcError, rpcCodeOf, rpcError } from './rpc.ts'
import { type CallOutcome, lastOf, RunReader } from './run-reader.ts'
import { isHandle } from './seal.ts'

/** Most messages that a client has not read. Later steps are not told then. */
const MAX_LOGS = 1000

/** Milliseconds after which an answer becomes a stream. */
const SOON_MS = 1000

/** Answers a call. Throws an {@link RpcError}, and the errors of `Core.start` and `Core.answer`. */
export async function callTool(rpc: McpRequest, parts: CallContext): Promise<EndpointResult> {
  const { capabilities, request, params } = rpc
  const { name } = params
  const args = params.arguments ?? {}
  if (capabilities) checkHeader(request.headers, 'Mcp-Name', name)
  const tool = typeof name === 'string' ? await parts.offer.find(name) : undefined
  if (tool === undefined) {
    const shown = typeof name === 'string' ? name.slice(0, 100) : ''
    throw new RpcError(INVALID_PARAMS, `There is no tool named \`${shown}\``, 200)
  }
  if (!isObject(args)) throw new RpcError(INVALID_PARAMS, '`arguments` must be an object', 200)
  if (capabilities) checkParamHeaders(request.headers, tool.inputSchema, args)
  const isTask = parts.tasks?.takes(rpc, tool, parts.core) ?? false
  return new CallHandler({ ...rpc, tool, args, isTask }, parts).answer()
}

/** A call of a tool, checked. */
interface CallRequest extends McpRequest {
  readonly tool: Offered
  readonly args: Fields
  /** Whether the call becomes a task if it takes long. */
  readonly isTask: boolean
}

class CallHandler {
  readonly #called: CallRequest
  readonly #parts: CallContext
  readonly #asker: RequestAsker
  readonly #owner: string | null
  #reading: RunReader | undefined
  /** Whether the run at work is a plain one, which is not stored. */
  #isPlain = false
  /** Requests to the client that its stream has not sent yet. */
  readonly #asked: object[] = []
  /** Resolves when the service asks the client, which needs a stream. */
  readonly #isAsked = deferred<undefined>()
  /** Whether this call must cancel the run when the client disconnects, because the run would not end by itself. */
  #outlives: boolean
  #isOver = false
  /** Whether the client has disconnected or cancelled the call. */
  #hasLeft = false

  constructor(called: CallRequest, parts: CallContext) {
    const { request, state, isTask } = called
    this.#called = called
    this.#parts = parts
    this.#owner = state.owner
    this.#asker = new RequestAsker(request, state, parts.core.readKeys)
    this.#outlives = isTask
  }

  async answer(): Promise<EndpointResult> {
    const { id, request, state, tool, isTask, params } = this.#called
    const { core, tasks, sessions } = this.#parts
    const started = await this.#begin()
    if (!(started instanceof StartedRun)) return this.#reply(this.#message(started))
    state.started(started.id)
    const task =
      isTask && started.record ? tasks?.created(started.record, { core, owner: this.#owner }) : undefined
    if (task && tool.taskSupport === 'required') {
      // The client would never learn the id of the task.
      if (request.signal.aborted) await this.#end(started.id)
      return this.#reply(this.#message(task))
    }
    const { progressToken } = metaOf(params)
    const token = isId(progressToken) ? progressToken : undefined
    const logs = this.#takesStream && sessions.settings(request)?.logsInfo === true
    const reading = new RunReader(started, {
      continueRun: this.#continueRun,
      maxLength: core.runs.maxLength,
      tracksChanges: token !== undefined,
      ...(logs && { onStep: this.#log }),
    })
    this.#reading = reading
    this.#isPlain = started.run !== undefined
    const untrack = sessions.track(request, id, this.#cancel)
    const last = this.#last(reading, task).finally(() => {
      this.#isOver = true
      untrack()
    })
    // A plain run ends by itself when its caller disconnects.
    if (started.run === undefined) onAbort(request.signal, this.#leave)
    if (!this.#takesStream) return this.#reply(await last)
    const soon = Promise.race([last, this.#isAsked.promise])
    const message = token === undefined ? await within(soon, SOON_MS) : undefined
    if (message !== undefined) return this.#reply(message)
    const source = streamOf({ reading, last, token, asked: this.#asked, leave: this.#leave })
    return sseReply(counted(source, core.openStream), this.#headers)
  }

  /** Tells a client before 2026-07-28, which asked for that, of a step. */
  readonly #log = ({ name, status, text, error }: StepEvent): void => {
    if (this.#asked.length >= MAX_LOGS) return
    const data = [name, status, text, error].filter(Boolean).join(': ')
    const params = { level: error === undefined ? 'info' : 'error', logger: this.#called.tool.name, data }
    this.#asked.push({ jsonrpc: '2.0', method: 'notifications/message', params })
    this.#isAsked.resolve(undefined)
    this.#reading?.wake()
  }

  get #takesStream(): boolean {
    return /text\/event-stream|\*\/\*/.test(this.#called.request.headers.get('accept') ?? '')
  }

  get #headers(): Readonly<Record<string, string>> {
    const { runId } = this.#called.state
    return runId === undefined ? {} : { 'x-run-id': runId }
  }

  #reply(message: object): EndpointResult {
    return jsonReply(message, { headers: this.#headers })
  }

  #message(result: object): object {
    const { id, answer } = this.#called
    return { jsonrpc: '2.0', id, result: answer(result) }
  }

  /** The last message of the answer: the result, the task, or an error. */
  async #last(reading: RunReader, task: object | undefined): Promise<object> {
    const { tasks, core } = this.#parts
    const { id, state, request } = this.#called
    try {
      const outcome = task && tasks ? await within(reading.done, tasks.afterMs) : await reading.done
      if (outcome) return this.#message(await this.#resultOf(outcome, reading.runId))
      reading.leave()
      return this.#message(task ?? {})
    } catch (error) {
      if (error instanceof RpcError) return rpcError(id, error)
      if (shouldLog(error) && !this.#hasLeft) state.logThrown('request.failed', error, request)
      // The task continues, and the client can read it.
      if (task) return this.#message(task)
      const { code, message } = reportError(error, core.production, 'internal_error')
      return rpcError(id, new RpcError(rpcCodeOf(code), message, 200, { code }))
    }
  }

  readonly #leave = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#hasLeft = true
    this.#reading?.leave()
    if (this.#outlives && this.#reading) this.#called.state.waitUntil(this.#end(this.#reading.runId))
  }

  /** Cancels the call for the client. A stored run ends in any case, and its log has the end. */
  readonly #cancel = (): void => {
    if (this.#isPlain || !this.#reading) return this.#leave()
    this.#hasLeft = true
    this.#outlives = true
    this.#called.state.waitUntil(this.#end(this.#reading.runId))
  }

  async #end(runId: string): Promise<void> {
    const { state, request } = this.#called
    await this.#parts.core.host.cancel(runId, this.#owner).catch(error => {
      if (shouldLog(error)) state.logThrown('request.failed', error, request)
    })
  }

  /** Starts a run, or continues the waiting one. Returns a result if the waiting run still waits. */
  async #begin(): Promise<StartedRun | object> {
    const { params, tool, args, isTask } = this.#called
    const { core, seal } = this.#parts
    const { requestState } = params
    const { sessionId } = args
    const isResumed = tool.input === undefined && typeof sessionId === 'string' && isHandle(sessionId)
    const handle = requestState ?? (isResumed ? sessionId : undefined)
    if (handle === undefined) {
      const asked = await askedOf(tool, args).catch(error => {
        if (isServableError(error)) return failed(error.message)
        throw error
      })
      return 'target' in asked ? core.start({ ...asked, isBackground: isTask }, this.#asker) : asked
    }
    const holder = { owner: this.#owner, tool: tool.name }
    const runId = typeof handle === 'string' ? await seal.open(handle, holder) : undefined
    if (runId === undefined && requestState !== undefined) throw misfit('requestState', 'is not of this call')
    const record = runId && (await this.#lastOf(runId).catch(ignoring('run_not_found')))
    if (!record) return failed(GONE)
    const given = this.#answersTo(record)
    if (given.isRefused) {
      await core.host.cancel(record.id, this.#owner)
      return failed(REFUSED)
    }
    const started = given.answers.length > 0 ? await this.#continueWith(record.id, given.answers) : undefined
    if (started !== undefined) return started
    if (record.status !== 'input_required') return new StartedRun(undefined, record, core.host, this.#owner)
    return this.#ask(record.id, '')
  }

  /** The client's answers to the open requests of a run. */
  #answersTo({ requests = [] }: RunRecord): { answers: readonly RunAnswer[]; isRefused?: boolean } {
    const { params, args } = this.#called
    const { inputResponses, requestState } = params
    if (inputResponses !== undefined) return answersTo(requests, inputResponses)
    const question = requestState === undefined ? askedForText(requests) : undefined
    return { answers: question ? [{ id: question.id, value: args.input }] : [] }
  }

  async #lastOf(runId: string): Promise<RunRecord> {
    const { host } = this.#parts.core
    return lastOf(host, await host.get(runId, this.#owner), this.#owner)
  }

  async #continueWith(id: string, answers: readonly RunAnswer[]): Promise<StartedRun | undefined> {
    const asked = { id, answers, isBackground: this.#called.isTask }
    return (await this.#parts.core.answer(asked, this.#asker)).started
  }

  /** Continues a waiting run in this same call. Returns undefined if the client cannot be asked here. */
  readonly #continueRun = async (
    requests: readonly InputRequest[],
    runId: string,
  ): Promise<StartedRun | undefined> => {
    const next = await this.#next(requests, runId)
    // The client may have disconnected while the run began.
    if (next && this.#hasLeft && this.#outlives) await this.#end(next.id)
    this.#isPlain = false
    return next
  }

  async #next(requests: readonly InputRequest[], runId: string): Promise<StartedRun | undefined> {
    const { params, request, capabilities } = this.#called
    const { inputResponses, requestState } = params
    // Questions may be answered in advance. Approvals and addresses may not: a person must have seen them.
    if (inputResponses !== undefined && requestState === undefined) {
      const { answers } = answersTo(requests, inputResponses)
      const isAsked = ({ kind, url }: InputRequest) => kind === 'question' && url === undefined
      if (answers.length === requests.length && requests.every(isAsked))
        return this.#continueWith(runId, answers)
    }
    const reading = this.#reading
    const { sessions } = this.#parts
    if (capabilities || !reading || !this.#takesStream || !asksAll(sessions.capabilities(request), requests))
      return undefined
    return this.#askOnStream(requests, runId, reading)
  }

  /** Asks the client on its open stream, and waits until its answers have arrived in requests of their own. */
  async #askOnStream(
    requests: readonly InputRequest[],
    runId: string,
    reading: RunReader,
  ): Promise<StartedRun | undefined> {
    const { seal, core } = this.#parts
    this.#outlives = true
    const handle = await seal.close(runId, { owner: this.#owner, tool: '' })
    const idOf = (key: string) => `${handle}/${key}`
    for (const [key, form] of Object.entries(formsOf(requests, reading.text)))
      this.#asked.push(requestOnStream(idOf(key), form))
    this.#isAsked.resolve(undefined)
    reading.wake()
    for (let wait = MIN_POLL_MS; ; wait = Math.min(wait * 1.2, MAX_POLL_MS)) {
      const record = await this.#lastOf(runId).catch(ignoring('state_unavailable'))
      if (record && record.id !== runId) {
        await this.#tellDone(runId, requests, idOf)
        return new StartedRun(undefined, record, core.host, this.#owner)
      }
      if ((record && record.status !== 'input_required') || reading.isClosed) return undefined
      await later(wait)
    }
  }

  /** Tells the client whose dialogs are settled elsewhere, such as by the page that a person has opened (2025-11-25, elicitation). */
  async #tellDone(
    runId: string,
    requests: readonly InputRequest[],
    idOf: (key: string) => string,
  ): Promise<void> {
    if (requests.every(({ url }) => url === undefined)) return
    const asked = await this.#parts.core.host
      .get(runId, this.#owner)
      .catch(ignoring('run_not_found', 'state_unavailable'))
    const { answered = [] } = asked ?? {}
    for (const request of requests.filter(({ url }) => url !== undefined)) {
      const by = answered.find(({ id }) => id === request.id)?.answeredBy
      const params = { elicitationId: idOf(keyOf(request)) }
      if (by && by.over !== 'mcp')
        this.#asked.push({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params })
    }
    this.#reading?.wake()
  }

  async #resultOf(outcome: CallOutcome, runId: string): Promise<object> {
    const isWaiting = 'result' in outcome && outcome.result.requests
    return isWaiting
      ? this.#ask(runId, outcome.result.text)
      : endOf(outcome, this.#called, this.#parts.offers)
  }

  /** Asks the caller: with forms if its client shows them, else as text. */
  async #ask(runId: string, preceding: string): Promise<object> {
    const { tool, capabilities } = this.#called
    const { seal, core } = this.#parts
    const { status, requests = [] } = await core.host.get(runId, this.#owner)
    if (status !== 'input_required') return failed(REFUSED)
    if (requests.some(({ kind }) => kind === 'client_tool')) {
      await this.#end(runId)
      return failed('The agent asks for a tool of its client: clients of MCP run none')
    }
    const handle = await seal.close(runId, { owner: this.#owner, tool: tool.name })
    if (capabilities && asksAll(capabilities, requests))
      return {
        resultType: 'input_required',
        inputRequests: formsOf(requests, preceding),
        requestState: handle,
      }
    const answers = askedForText(requests) ? 'with the answer as `input`' : 'once a person has approved'
    const how =
      tool.input === undefined
        ? `To go on, call \`${tool.name}\` again ${answers}, with \`sessionId\` \`${handle}\``
        : ''
    return textResult([preceding, ...requests.map(questionOf), how].filter(Boolean).join('\n\n'))
  }
}

/** A request to a client before 2026-07-28. An address has an id there, by which the client hears that it is done with. */
function requestOnStream(id: string, form: object): object {
  const { params, ...request } = form as { readonly params: Fields }
  const more = params.mode === 'url' ? { elicitationId: id } : {}
  return { jsonrpc: '2.0', id, ...request, params: { ...params, ...more } }
}

function onAbort(signal: AbortSignal, listener: () => void): void {
  signal.addEventListener('abort', listener)
  if (signal.aborted) listener()
}

const GONE = 'What waited for this answer is gone: begin again, without `sessionId`'

const REFUSED = 'Nobody has answered: the run was cancelled'

/** Milliseconds between the first two polls for an answer. */
const MIN_POLL_MS = 250
/** Most milliseconds between two polls. */
const MAX_POLL_MS = 2000
