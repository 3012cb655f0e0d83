/** The kinds of traffic. Each act is one operation of a client, checked to its end. */

import { createParser } from 'eventsource-parser'
import type { Ledger } from './ledger.ts'
import { type Fate, type Order, textOfOrder, writeOrder } from './orders.ts'
import type { Receivers, ToldTask } from './receivers.ts'

/** Milliseconds after which an answer counts as lost. */
export const PATIENCE_MS = 60_000

/** An operation of a client. Rejects with what is wrong. */
export type Act = (url: string, ledger: Ledger) => Promise<void>

/** An error that is never acceptable. */
export class Wrong extends Error {
  readonly what: string
  constructor(what: string, detail: string) {
    super(detail)
    this.what = what
  }
}

/** What a client is told that shall try again later: the state is away, or busy. */
export const REFUSED = 'refused: the state cannot be reached'

/** What a client is told whose run was at a process that was killed: over a socket, or as a call of MCP. */
export const CUT_OFF = 'a run that was cut off'

export function isStateAway(text: string): boolean {
  return /"code":"state_unavailable"|The state cannot be reached/.test(text)
}

/** Throws {@link REFUSED} if an answer says so. */
export function expectState(text: string): void {
  if (isStateAway(text)) throw new Wrong(REFUSED, text)
}

/** Asks again while the state cannot be reached. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  while (true) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Wrong && error.what === REFUSED) || performance.now() > until) throw error
      await sleep(1000)
    }
  }
}

/** A short description of a rejection. */
export function whatOf(error: unknown): string {
  if (error instanceof Wrong) return error.what
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  const why = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `failed: ${error instanceof Error ? error.message : error}${why}`
}

/**
 * Whether a connection was reset before an answer came: the server closes one that rests for five seconds, and on a busy machine a
 * request may be on its way then.
 */
export function isReset(error: unknown): boolean {
  const { code } = Object(error instanceof Error ? error.cause : undefined) as { code?: unknown }
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET'
}

export const upTo = (max: number) => Math.floor(Math.random() * max)
export const oneOf = <T>(...choices: readonly T[]): T => choices[upTo(choices.length)]!
export const sleep = (ms: number): Promise<void> => new Promise<void>(resolve => setTimeout(resolve, ms))

let orders = 0
/** An order with a tag of its own. */
export function orderOf(fate: Fate, pieces = 1 + upTo(40), pauseMs = oneOf(0, 0, 1, 5)): Order {
  return { tag: `r${++orders}`, pieces, pauseMs, fate }
}
export const anyEnd = () => oneOf<Fate>('answer', 'answer', 'answer', 'tool', 'fail')

/** Throws `what` as a fault unless `isRight`. */
export function expect(isRight: boolean, what: string, detail: () => string): void {
  if (!isRight) throw new Wrong(what, detail())
}

export async function post(
  url: string,
  body: object | FormData,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  const isForm = body instanceof FormData
  return fetch(url, {
    method: 'POST',
    body: isForm ? body : JSON.stringify(body),
    headers: isForm ? headers : { 'content-type': 'application/json', ...headers },
    signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
  })
}

/** Checks the answer of a run over HTTP. If the order says that the agent fails, a 500 is right. */
export async function expectResult(
  response: Response,
  order: Order,
  more = '',
  whole = textOfOrder(order),
): Promise<void> {
  const text = await response.text()
  const says = () => `${response.status} ${text.slice(0, 500)} for ${writeOrder(order)}`
  expectState(text)
  if (order.fate === 'fail') {
    expect(response.status === 500 && JSON.parse(text).code === 'agent_failed', 'not the failure', says)
    return
  }
  expect(response.status < 500, 'a 5xx', says)
  expect(response.status === 200, 'not a 200', says)
  const result = JSON.parse(text)
  expect(result.text === whole + more, 'not the text', says)
  expect(result.usage.completionTokens === order.pieces, 'not the usage', says)
}

export const json: Act = async (url, ledger) => {
  const order = orderOf(anyEnd())
  await expectResult(await post(`${url}/api/agents/json/run`, { input: writeOrder(order) }), order)
  ledger.note('json', order)
}

/** Reads a stream of events and checks each: they are numbered, and none is lost or doubled. */
export class Listener {
  text = ''
  lastId = 0
  /** How often the run went on in another process. */
  resumed = 0
  ending: { type: string; finishReason?: string; code?: string } | undefined
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Reads to the end, or leaves after a number of bytes. Gives true at the end of the stream. */
  async read(response: Response, leave?: { after: number; now: () => void }): Promise<boolean> {
    if (response.status === 503) throw new Wrong(REFUSED, 'with 503')
    expect(
      response.status === 200,
      response.status >= 500 ? 'a 5xx' : 'not a 200',
      () => `${response.status}`,
    )
    const parser = createParser({ onEvent: ({ id, data }) => this.#take(Number(id), data) })
    const decoder = new TextDecoder()
    let left = leave?.after ?? Number.POSITIVE_INFINITY
    try {
      for await (const chunk of response.body!) {
        parser.feed(decoder.decode(chunk.subarray(0, left), { stream: true }))
        left -= chunk.length
        if (left > 0) continue
        leave?.now()
        break
      }
    } catch (error) {
      if (left > 0) throw error
    }
    return this.ending !== undefined
  }

  #take(id: number, data: string): void {
    this.#ledger.events++
    expect(this.ending === undefined, 'an event after the last', () => data)
    expect(
      id === this.lastId + 1,
      id > this.lastId ? 'a lost event' : 'a doubled event',
      () => `${id} after ${this.lastId}: ${data}`,
    )
    this.lastId = id
    const event = JSON.parse(data)
    if (event.type === 'text') this.text += event.text
    // The run goes on elsewhere, and says its text again.
    if (event.type === 'resumed') {
      this.text = ''
      this.resumed++
    }
    if (event.type === 'finish' || event.type === 'error') this.ending = event
  }

  expectEnd(order: Order, text = textOfOrder(order)): void {
    const says = () => `${JSON.stringify(this.ending)} after ${this.text} for ${writeOrder(order)}`
    expect(this.text === text, 'not the text of a stream', says)
    const end = this.ending
    if (order.fate === 'fail') expect(end?.code === 'agent_failed', 'not the error of a stream', says)
    else if (order.fate === 'wait') expect(end?.finishReason === 'cancelled', 'not cancelled', says)
    else expect(end?.finishReason === 'stop', 'not the end of a stream', says)
  }
}

export const wholeStream: Act = async (url, ledger) => {
  const order = orderOf(anyEnd())
  const listener = new Listener(ledger)
  const isWhole = await listener.read(
    await post(`${url}/api/agents/streams/stream`, { input: writeOrder(order) }),
  )
  expect(isWhole, 'a stream without an end', () => listener.text)
  listener.expectEnd(order)
  ledger.note('streams', order)
}

/** A client that leaves a plain stream cancels its run. */
export const leftStream: Act = async (url, ledger) => {
  const order = orderOf('wait', 10 + upTo(30))
  const leaving = new AbortController()
  const response = await post(
    `${url}/api/agents/streams/stream`,
    { input: writeOrder(order) },
    leaving.signal,
  )
  await new Listener(ledger).read(response, { after: 1 + upTo(200), now: () => leaving.abort() })
  ledger.cuts++
  ledger.note('streams', order)
}

/** A stored run whose connection is lost again and again, after some bytes. */
export const cutStream: Act = async (url, ledger) => {
  const order = orderOf(oneOf<Fate>(anyEnd(), anyEnd(), 'wait'), 5 + upTo(60))
  const listener = new Listener(ledger)
  const body = { input: writeOrder(order), background: true }
  let leaving = new AbortController()
  let response = await post(`${url}/api/agents/followed/stream`, body, leaving.signal)
  const id = response.headers.get('x-run-id')
  const cancelled =
    order.fate === 'wait' ? sleep(upTo(100)).then(() => post(`${url}/api/runs/${id}/cancel`, {})) : undefined
  // An earlier failure is reported in place of this one.
  cancelled?.catch(() => {})
  while (!(await listener.read(response, { after: 1 + upTo(1500), now: () => leaving.abort() }))) {
    ledger.cuts++
    leaving = new AbortController()
    const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(PATIENCE_MS)])
    const headers = { 'last-event-id': String(listener.lastId) }
    response = await fetch(`${url}/api/runs/${id}/stream`, { headers, signal })
  }
  leaving.abort()
  if (cancelled !== undefined) await expectCancelled(await cancelled)
  expectWhole(listener, order)
  ledger.note('followed', order, listener.text === '')
  ledger.tell(id ?? '', EVENTS[order.fate])
}

/** What webhooks tell of a stored run. */
export const EVENTS: Record<Fate, string> = {
  answer: 'run.completed',
  tool: 'run.completed',
  approve: 'run.input_required',
  deny: 'run.input_required',
  fail: 'run.failed',
  wait: 'run.cancelled',
}

export async function expectCancelled(response: Response): Promise<void> {
  const text = await response.text()
  expect(response.status === 200 && JSON.parse(text).status === 'cancelled', 'not cancelled', () => text)
}

/** Checks the text. A cancelled run may not have said everything. */
export function expectWhole(listener: Listener, order: Order): void {
  if (order.fate !== 'wait') return listener.expectEnd(order)
  expect(textOfOrder(order).startsWith(listener.text), 'not the text of a stream', () => listener.text)
  expect(listener.ending?.finishReason === 'cancelled', 'not cancelled', () =>
    JSON.stringify(listener.ending),
  )
}

export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Wrong(what, `after ${PATIENCE_MS} ms`)), PATIENCE_MS)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

export async function rpc(url: string, method: string, params: object): Promise<Response> {
  return post(`${url}/`, { jsonrpc: '2.0', id: 1, method, params })
}

export const messageOf = (order: Order) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text: writeOrder(order) }],
})

const TASK_ENDS: Record<Fate, string> = {
  answer: 'completed',
  tool: 'completed',
  approve: 'input-required',
  deny: 'input-required',
  fail: 'failed',
  wait: 'canceled',
}

export interface Task {
  readonly id: string
  readonly status: { readonly state: string }
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[]
}

export async function taskOf(response: Response): Promise<Task> {
  const text = await response.text()
  expectState(text)
  const answer = response.status === 200 ? JSON.parse(text) : {}
  const what = response.status >= 500 ? 'a 5xx' : 'not a task'
  expect(answer.result !== undefined, what, () => `${response.status} ${text.slice(0, 500)}`)
  return answer.result
}

export const sentTask: Act = async (url, ledger) => {
  const order = orderOf(anyEnd())
  const params = { message: messageOf(order), configuration: { blocking: true } }
  expectTask(await taskOf(await rpc(url, 'message/send', params)), order)
  ledger.note('tasks', order)
}

export function expectTask(task: Task, order: Order): void {
  const says = () => `${JSON.stringify(task).slice(0, 800)} for ${writeOrder(order)}`
  expect(task.status.state === TASK_ENDS[order.fate], 'not the state of a task', says)
  const text = task.artifacts?.[0]?.parts.map(part => part.text).join('')
  expect(text === textOfOrder(order), 'not the text of a task', says)
}

export const cancelledTask: Act = async (url, ledger) => {
  const order = orderOf('wait')
  const params = { message: messageOf(order), configuration: { blocking: false } }
  const { id } = await taskOf(await rpc(url, 'message/send', params))
  await sleep(upTo(60))
  let tries = 0
  const task = await patiently(async () => {
    const answer = await rpc(url, 'tasks/cancel', { id })
    const isRepeated = tries++ > 0 && (await answer.clone().text()).includes('TASK_NOT_CANCELABLE')
    // A try that was refused may have cancelled it.
    return taskOf(isRepeated ? await rpc(url, 'tasks/get', { id }) : answer)
  })
  expect(task.status.state === 'canceled', 'not a cancelled task', () => JSON.stringify(task).slice(0, 800))
  ledger.note('tasks', order)
}

export const streamedTask: Act = async (url, ledger) => {
  const order = orderOf(anyEnd())
  const response = await rpc(url, 'message/stream', { message: messageOf(order) })
  let text = ''
  let state = ''
  const parser = createParser({
    onEvent({ data }) {
      ledger.events++
      expectState(data)
      const { result } = JSON.parse(data)
      state = result.status?.state ?? state
      text += (result.artifact?.parts ?? []).map((part: { text?: string }) => part.text ?? '').join('')
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of response.body!) parser.feed(decoder.decode(chunk, { stream: true }))
  const says = () => `${response.status} ${state}: ${text} for ${writeOrder(order)}`
  expect(state === TASK_ENDS[order.fate], 'not the state of a streamed task', says)
  expect(text === textOfOrder(order), 'not the text of a streamed task', says)
  ledger.note('tasks', order)
}

/** A task with a receiver, which gets every event, in order, and the end once. */
export const pushedTask =
  (receivers: Receivers): Act =>
  async (url, ledger) => {
    const order = orderOf(anyEnd(), 1 + upTo(10))
    const path = `/${order.tag}`
    const isEnd = ({ status }: ToldTask) => status.state === TASK_ENDS[order.fate]
    const hearing = receivers.heard(path, told => told.some(isEnd))
    try {
      const pushNotificationConfig = { url: receivers.quickUrl + path }
      const params = { message: messageOf(order), configuration: { blocking: true, pushNotificationConfig } }
      expectTask(await taskOf(await rpc(url, 'message/send', params)), order)
      const told = await inTime(hearing, 'a task that its receiver was not told of')
      const says = () => `${JSON.stringify(told).slice(0, 800)} for ${writeOrder(order)}`
      expect(told.filter(isEnd).length === 1 && isEnd(told.at(-1)!), 'not the end that was told', says)
      const text = told
        .at(-1)
        ?.artifacts?.[0]?.parts.map(part => part.text)
        .join('')
      expect(text === textOfOrder(order), 'not the text that was told', says)
    } finally {
      receivers.forget(path)
    }
    ledger.note('tasks', order)
  }

export const upload: Act = async (url, ledger) => {
  const order = orderOf(oneOf('answer', 'tool'), 5)
  const form = new FormData()
  form.append('input', writeOrder(order))
  let size = 0
  for (let files = 1 + upTo(3); files > 0; files--) {
    const bytes = 1 + upTo(200_000)
    // Base64 has four characters for three bytes.
    size += 4 * Math.ceil(bytes / 3)
    form.append('files', new File([new Uint8Array(bytes)], 'file.bin', { type: 'application/octet-stream' }))
  }
  await expectResult(await post(`${url}/api/agents/uploads/run`, form), order, String(size))
  ledger.note('uploads', order)
}

export const scrape: Act = async (url, ledger) => {
  ledger.scraped(await readMetrics(url))
  await sleep(500)
}

/** The metrics as a scraper reads them. */
export async function readMetrics(url: string): Promise<string> {
  const response = await fetch(`${url}/api/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) })
  const text = await response.text()
  expect(response.status === 200, 'not a scrape', () => `${response.status} ${text.slice(0, 300)}`)
  return text
}
