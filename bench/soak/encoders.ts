/** Conversations in the words of each protocol: an order, and a person's decision where the run asks for one. */

import { createParser } from 'eventsource-parser'
import type { Ledger } from './ledger.ts'
import { DECIDED, type Fate, isAsking, type Kind, type Order, textOfOrder, writeOrder } from './orders.ts'
import {
  type Act,
  anyEnd,
  CUT_OFF,
  expect,
  expectState,
  oneOf,
  orderOf,
  PATIENCE_MS,
  post,
  sleep,
  Wrong,
} from './traffic.ts'

/** Any JSON: it is read member by member, and compared. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type Json = any

/** What a run has said: how it ended, its text if that is told, and what a person is to decide. */
interface Said {
  readonly end: 'stop' | 'failed' | 'asks' | 'nothing'
  readonly text?: string
  readonly request?: Json
}

/** How a protocol asks for a run, and how it tells a decision. */
interface Talk {
  readonly kind: Kind
  ask(url: string, order: Order, ledger: Ledger): Promise<Said>
  /** Absent where nobody can decide. */
  decide?(url: string, request: Json, isApproved: boolean, ledger: Ledger): Promise<Said>
}

const anyFate = () => oneOf<Fate>(anyEnd(), anyEnd(), anyEnd(), 'approve', 'deny')

const ENDS: Record<Fate, Said['end']> = {
  answer: 'stop',
  tool: 'stop',
  fail: 'failed',
  wait: 'nothing',
  approve: 'asks',
  deny: 'asks',
}

/** A run, and the one that goes on after a decision. */
export const talk =
  ({ kind, ask, decide }: Talk): Act =>
  async (url, ledger) => {
    const order = orderOf(decide ? anyFate() : anyEnd())
    const said = await ask(url, order, ledger)
    expectSaid(said, { end: ENDS[order.fate], text: textOfOrder(order) }, order)
    if (decide !== undefined && isAsking(order.fate)) {
      const after = await decide(url, said.request, order.fate === 'approve', ledger)
      expectSaid(after, { end: 'stop', text: DECIDED[order.fate] }, order)
    }
    ledger.note(kind, order)
  }

function expectSaid({ end, text, request }: Said, right: Said, order: Order): void {
  const says = () => `${end} ${text} ${JSON.stringify(request)?.slice(0, 500)} for ${writeOrder(order)}`
  expect(end === right.end, 'not the end in the words of a protocol', says)
  expect(text === undefined || text === right.text, 'not the text in the words of a protocol', says)
}

/** The body of an answer. Throws for one that refuses. */
async function bodyOf(response: Response, also: number[] = []): Promise<string> {
  const text = await response.text()
  const says = () => `${response.status} ${text.slice(0, 500)}`
  expectState(text)
  const isRight = response.status === 200 || also.includes(response.status)
  expect(isRight, response.status >= 500 ? 'a 5xx' : 'not a 200', says)
  return text
}

/** The events of a stream, or the one message of a JSON answer. */
async function eventsOf(response: Response, ledger: Ledger): Promise<Json[]> {
  const text = await bodyOf(response)
  if (text.startsWith('{')) return [JSON.parse(text)]
  const events: Json[] = []
  createParser({ onEvent: ({ data }) => data === '[DONE]' || events.push(JSON.parse(data)) }).feed(text)
  ledger.events += events.length
  return events
}

const isOf =
  (type: string) =>
  (event: Json): boolean =>
    event.type === type
const deltasIn = (events: readonly Json[], type: string): string =>
  events
    .filter(isOf(type))
    .map(({ delta }) => delta)
    .join('')

/** JSON, with a decision at the run's own route. */
export const asked: Talk = {
  kind: 'json',
  async ask(url, order) {
    const response = await post(`${url}/api/agents/json/run`, { input: writeOrder(order) })
    return saidIn(JSON.parse(await bodyOf(response, [500])))
  },
  async decide(url, { id, digest }, isApproved) {
    const answers = [{ id, digest, decision: isApproved ? 'approve' : 'deny' }]
    const answer = () => post(`${url}/api/runs/${id.split('/')[0]}/answers`, { answers })
    return saidIn(JSON.parse(await bodyOf(await answer())))
  },
}

function saidIn({ code, text, finishReason, requests }: Json): Said {
  if (code === 'agent_failed') return { end: 'failed' }
  if (finishReason === 'input_required') return { end: 'asks', text, request: requests[0] }
  return { end: finishReason, text }
}

/** The stream of `useChat`. */
export const chat: Talk = {
  kind: 'chats',
  async ask(url, order, ledger) {
    const message = {
      id: crypto.randomUUID(),
      role: 'user',
      parts: [{ type: 'text', text: writeOrder(order) }],
    }
    return chatted(url, [message], ledger)
  },
  decide: (url, { messages, runId, approvalId, toolCallId }, approved, ledger) => {
    const approval = { id: approvalId, approved }
    const part = { type: 'dynamic-tool', toolName: 'pay', toolCallId, state: 'approval-responded', approval }
    return chatted(url, [...messages, { id: runId, role: 'assistant', parts: [part] }], ledger)
  },
}

async function chatted(url: string, messages: readonly Json[], ledger: Ledger): Promise<Said> {
  const body = { id: messages[0].id, messages }
  const events = await eventsOf(await post(`${url}/api/agents/chats/chat`, body), ledger)
  const text = deltasIn(events, 'text-delta')
  if (events.some(isOf('error'))) return { end: 'failed', text }
  const { finishReason } = events.find(isOf('finish'))?.messageMetadata ?? { finishReason: 'nothing' }
  const request = events.find(isOf('tool-approval-request'))
  if (request === undefined) return { end: finishReason, text }
  const { messageId: runId } = events.find(isOf('start'))
  return { end: 'asks', text, request: { ...request, messages, runId } }
}

/** AG-UI. */
export const agUi: Talk = {
  kind: 'agui',
  ask: (url, order, ledger) => {
    const messages = [{ id: crypto.randomUUID(), role: 'user', content: writeOrder(order) }]
    return ranAgUi(url, { messages }, ledger)
  },
  decide: (url, { id: interruptId }, approved, ledger) => {
    const resume = [{ interruptId, status: 'resolved', payload: { approved } }]
    return ranAgUi(url, { messages: [], resume }, ledger)
  },
}

async function ranAgUi(url: string, more: object, ledger: Ledger): Promise<Said> {
  const body = { threadId: crypto.randomUUID(), runId: crypto.randomUUID(), tools: [], context: [], ...more }
  const events = await eventsOf(await post(`${url}/api/agents/agui/ag-ui`, body), ledger)
  const text = deltasIn(events, 'TEXT_MESSAGE_CONTENT')
  const { type, outcome, metadata } = events.at(-1) ?? {}
  if (type === 'RUN_ERROR') return { end: 'failed', text }
  if (outcome?.type === 'interrupt') return { end: 'asks', text, request: outcome.interrupts[0] }
  return { end: type === 'RUN_FINISHED' ? metadata.servable.finishReason : 'nothing', text }
}

/** Chat Completions. No message decides there. */
export const completions: Talk = {
  kind: 'openai',
  async ask(url, order, ledger) {
    const stream = oneOf(true, false)
    const body = { model: 'openai', stream, messages: [{ role: 'user', content: writeOrder(order) }] }
    const response = await post(`${url}/v1/chat/completions`, body)
    if (response.status === 500) return { end: failureIn(JSON.parse(await response.text())) }
    const events = await eventsOf(response, ledger)
    const choices: Json[] = events.flatMap(event => event.choices ?? [])
    const text = choices.map(({ delta, message = delta }) => message.content ?? '').join('')
    const last = events.at(-1)
    if (last?.error !== undefined) return { end: failureIn(last), text }
    return { end: choices.at(-1)?.finish_reason ?? 'nothing', text }
  },
}

const failureIn = ({ error }: Json): Said['end'] => (error?.code === 'agent_failed' ? 'failed' : 'nothing')

/** Responses, kept or not, streamed or not. */
export const responses: Talk = {
  kind: 'openai',
  ask: (url, order, ledger) =>
    responded(url, { input: writeOrder(order), store: oneOf(true, false) }, ledger),
  decide: (url, { id: approval_request_id, response }, approve, ledger) => {
    const input = [{ type: 'mcp_approval_response', approval_request_id, approve }]
    return responded(url, { input, previous_response_id: response }, ledger)
  },
}

async function responded(url: string, more: object, ledger: Ledger): Promise<Said> {
  const body = { model: 'openai', stream: oneOf(true, false), ...more }
  const answer = await post(`${url}/v1/responses`, body)
  if (answer.status === 500) return { end: failureIn(JSON.parse(await answer.text())) }
  const events = await eventsOf(answer, ledger)
  const numbers = () => events.map(({ sequence_number: number }) => number).join()
  const isInOrder = events.length === 1 || events.every((event, at) => event.sequence_number === at)
  expect(isInOrder, 'a lost or doubled event of a response', numbers)
  const { id, status, output = [], store: isKept } = events.at(-1)?.response ?? events[0]
  const text = output.flatMap(({ content = [] }: Json) => content.map((part: Json) => part.text)).join('')
  if (status !== 'completed') return { end: status === 'failed' ? 'failed' : 'nothing', text }
  if (events.length > 1)
    expect(deltasIn(events, 'response.output_text.delta') === text, 'not the text of deltas', () => text)
  const request = output.find(isOf('mcp_approval_request'))
  if (request === undefined) return { end: 'stop', text }
  return { end: 'asks', text, request: { ...request, response: isKept ? id : undefined } }
}

/** Calls of a tool over MCP, with forms. */
export const mcp: Talk = {
  kind: 'mcp',
  ask: (url, order, ledger) => called(url, { arguments: { input: writeOrder(order) } }, ledger),
  decide: (url, request, isApproved, ledger) => {
    // A call that took long has become a task.
    if (request.taskId !== undefined) return mcpTask.decide!(url, request, isApproved, ledger)
    const { inputRequests, requestState, arguments: args } = request
    const inputResponses = decisions(inputRequests, isApproved)
    return called(url, { arguments: args, requestState, inputResponses }, ledger)
  },
}

const OWN = 'io.modelcontextprotocol'
const MODERN = '2026-07-28'

/** The same decision for everything that is asked. */
function decisions(inputRequests: Json, isApproved: boolean): Json {
  const content = { decision: isApproved ? 'approve' : 'deny' }
  return Object.fromEntries(Object.keys(inputRequests).map(key => [key, { action: 'accept', content }]))
}

/** The last message of a request over MCP. `name` is of the tool or the task. */
async function askedMcp(
  url: string,
  method: string,
  name: string,
  given: Json,
  ledger: Ledger,
): Promise<Json> {
  const _meta = {
    [`${OWN}/protocolVersion`]: MODERN,
    [`${OWN}/clientCapabilities`]: { elicitation: { form: {} }, extensions: { [`${OWN}/tasks`]: {} } },
    ...(oneOf(true, false) && { progressToken: 'p' }),
  }
  const headers = {
    ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': MODERN },
    ...{ 'mcp-method': method, 'mcp-name': name },
  }
  const body = { jsonrpc: '2.0', id: 1, method, params: { _meta, ...given } }
  const answer = (await eventsOf(await post(`${url}/mcp`, body, undefined, headers), ledger)).at(-1)
  // A stored run may have begun in a process that was killed.
  const { code } = (answer?.error ?? answer?.result?.error)?.data ?? {}
  if (code === 'interrupted') throw new Wrong(CUT_OFF, JSON.stringify(answer))
  return answer
}

async function called(url: string, given: Json, ledger: Ledger): Promise<Said> {
  const answer = await askedMcp(url, 'tools/call', 'mcp', { name: 'mcp', ...given }, ledger)
  const result = answer?.result
  if (result?.resultType === 'task') return lookedAt(url, result.taskId, 'working', ledger)
  if (result?.resultType === 'input_required')
    return { end: 'asks', request: { ...result, arguments: given.arguments } }
  return result === undefined ? { end: 'nothing', text: JSON.stringify(answer) } : saidInResult(result)
}

function saidInResult(result: Json): Said {
  if (result === undefined) return { end: 'nothing' }
  if (result.isError) return { end: 'failed' }
  return { end: 'stop', text: result.content.map((part: Json) => part.text).join('') }
}

/** A task of MCP, which is looked at until it is over or asks. */
export const mcpTask: Talk = {
  kind: 'mcp',
  async ask(url, order, ledger) {
    const given = { name: 'mcp_task', arguments: { input: writeOrder(order) } }
    const { result } = await askedMcp(url, 'tools/call', 'mcp_task', given, ledger)
    return lookedAt(url, result?.taskId, 'working', ledger)
  },
  async decide(url, { taskId, inputRequests }, isApproved, ledger) {
    const inputResponses = decisions(inputRequests, isApproved)
    await askedMcp(url, 'tasks/update', taskId, { taskId, inputResponses }, ledger)
    return lookedAt(url, taskId, 'input_required', ledger)
  },
}

/** Looks at a task until it stands otherwise. */
async function lookedAt(url: string, taskId: string, before: string, ledger: Ledger): Promise<Said> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const { result: task, error } = await askedMcp(url, 'tasks/get', taskId, { taskId }, ledger)
    if (task === undefined) return { end: 'nothing', text: JSON.stringify(error) }
    if (task.status === 'input_required' && before !== task.status) return { end: 'asks', request: task }
    if (task.status === 'completed') return saidInResult(task.result)
    const says = () => JSON.stringify(task).slice(0, 500)
    expect(task.status === 'working' || task.status === before, 'not the state of a task over MCP', says)
    expect(performance.now() < until, 'a task over MCP without an end', says)
    await sleep(task.pollIntervalMs)
  }
}

/** A2A 1.0 over HTTP+JSON, streamed or not. */
export const restTask: Talk = {
  kind: 'tasks',
  ask: (url, order, ledger) => sent(url, { parts: [{ text: writeOrder(order) }] }, ledger),
  decide: (url, { taskId, contextId, id }, isApproved, ledger) => {
    const answers = [{ id, decision: isApproved ? 'approve' : 'deny' }]
    return sent(url, { taskId, contextId, parts: [{ data: { answers } }] }, ledger)
  },
}

const TASK_ENDS: Record<string, Said['end']> = {
  TASK_STATE_COMPLETED: 'stop',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_INPUT_REQUIRED: 'asks',
}

async function sent(url: string, more: Json, ledger: Ledger): Promise<Said> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...more }
  const operation = oneOf('send', 'stream')
  const headers = { 'a2a-version': '1.0' }
  const answer = await post(`${url}/message:${operation}`, { message }, undefined, headers)
  const events = await eventsOf(answer, ledger)
  const { task } = events[0] ?? {}
  const update = events.findLast(({ statusUpdate }) => statusUpdate)?.statusUpdate
  const { status, id: taskId, contextId } = { ...task, ...update }
  // A task that goes on has what it said before in artifacts of their own.
  const isNew = ({ artifactId }: Json) =>
    artifactId === (more.taskId === undefined ? 'response' : 'response-2')
  const told = events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact ?? [])
  const artifacts: Json[] = [...(task?.artifacts ?? []), ...told].filter(isNew)
  const text = artifacts.flatMap(({ parts }) => parts.map((part: Json) => part.text ?? '')).join('')
  const data = status?.message?.parts.find((part: Json) => part.data)?.data
  const request = data && { taskId, contextId, id: data.requests[0].id }
  return { end: TASK_ENDS[status?.state] ?? 'nothing', text, request }
}
