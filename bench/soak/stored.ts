/** Stored runs that are followed to their end through lost connections and processes: workflows, and runs that wait for a place. */

import type { Ledger } from './ledger.ts'
import {
  type Fate,
  isAsking,
  LASTING,
  NEIGHBOUR,
  type Order,
  piece,
  QUEUED,
  TICKER,
  textOfOrder,
  writeOrder,
} from './orders.ts'
import {
  type Act,
  expect,
  Listener,
  oneOf,
  orderOf,
  PATIENCE_MS,
  post,
  REFUSED,
  sleep,
  upTo,
  Wrong,
} from './traffic.ts'

/** The value of the work, which is done again if something excuses that it failed. */
export type Again = <T>(work: () => Promise<T>) => Promise<T>

/** What every request of a client says. */
type Headers = Readonly<Record<string, string>>

/** Rejects if a proxy answers for a process that it has lost, or the state is away. */
export function reached(response: Response): Response {
  if (response.status === 502) throw new Error('nginx answers 502')
  if (response.status === 503) throw new Wrong(REFUSED, 'with 503')
  return response
}

/** The JSON of an accepted request, which is sent again if need be. */
async function accepted(again: Again, ask: () => Promise<Response>) {
  const text = await again(async () => {
    const response = reached(await ask())
    const body = await response.text()
    expect(response.status === 202, 'not accepted', () => `${response.status} ${body}`)
    return body
  })
  return JSON.parse(text) as { readonly id: string; readonly status: string }
}

/** Starts a stored run with a key, so that asking again starts no other one. */
export async function begun(again: Again, at: string | (() => string), order: Order, more: Headers = {}) {
  const headers = { prefer: 'respond-async', 'idempotency-key': crypto.randomUUID(), ...more }
  const runs = () => `${typeof at === 'string' ? at : at()}/run`
  return accepted(again, () => post(runs(), { input: writeOrder(order) }, undefined, headers))
}

/** Follows a run to its end, however often the connection is lost. */
export async function followed(
  again: Again,
  at: string,
  listener: Listener,
  ledger: Ledger,
  more: Headers = {},
): Promise<void> {
  const until = performance.now() + 2 * PATIENCE_MS
  const follow = async () => {
    const leaving = new AbortController()
    const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(PATIENCE_MS)])
    const headers = { 'last-event-id': String(listener.lastId), ...more }
    try {
      const response = reached(await fetch(`${at}/stream`, { headers, signal }))
      return await listener.read(response, { after: 1 + upTo(5000), now: () => leaving.abort() })
    } finally {
      leaving.abort()
    }
  }
  while (!(await again(follow))) {
    ledger.cuts++
    expect(
      performance.now() < until,
      'a stored run without an end of its own',
      () => `${at} ${listener.text}`,
    )
  }
}

/** Checks what is kept of a run that has ended. */
async function expectRecord(again: Again, at: string, text: string, headers: Headers = {}): Promise<void> {
  const record = await again(async () => reached(await fetch(at, { headers })).text())
  expect(JSON.parse(record).result?.text === text, 'not the text of a record', () => record)
}

/** Where a workflow is started, and where it is counted how often workflows went on elsewhere. */
interface Lasting {
  readonly at?: () => string
  readonly fate?: { resumed: number }
}

/** A workflow that goes on in another process, and perhaps asks half way. It always ends. */
export const lastingRun =
  (again: Again, { at, fate }: Lasting = {}): Act =>
  async (url, ledger) => {
    const order = orderOf(oneOf<Fate>('answer', 'approve'), 6 + upTo(20), 10 + upTo(100))
    const middle = isAsking(order.fate) ? order.pieces >> 1 : order.pieces
    const saidFrom = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => piece(order.tag, from + index)).join('')
    /** Follows a run to this text. */
    const heard = async (id: string, text: string, event: string) => {
      const listener = new Listener(ledger)
      await followed(again, `${url}/api/runs/${id}`, listener, ledger)
      if (fate) fate.resumed += listener.resumed
      const says = () => `${JSON.stringify(listener.ending)} after ${listener.text} for ${writeOrder(order)}`
      const end = event === 'run.completed' ? 'stop' : 'input_required'
      expect(listener.ending?.finishReason === end, 'not the end of a workflow', says)
      expect(listener.text === text, 'not the text of a workflow', says)
      ledger.tell(id, event)
    }
    const { id } = await begun(again, () => `${at?.() ?? url}/api/workflows/${LASTING}`, order)
    const isAsked = middle < order.pieces
    await heard(id, saidFrom(0, middle), isAsked ? 'run.input_required' : 'run.completed')
    if (!isAsked) return expectRecord(again, `${url}/api/runs/${id}`, textOfOrder(order))
    const answers = [{ id: `${id}/size`, value: 'M' }]
    const headers = { prefer: 'respond-async' }
    const next = await accepted(again, () =>
      post(`${url}/api/runs/${id}/answers`, { answers }, undefined, headers),
    )
    const rest = `M ${saidFrom(middle, order.pieces)}`
    await heard(next.id, rest, 'run.completed')
    await expectRecord(again, `${url}/api/runs/${next.id}`, rest)
  }

const QUEUED_HEADERS = { 'x-client': QUEUED }

/** More runs of an identity than may be at work. Each starts once, and one of them is taken out. */
export const queuedRuns =
  (again: Again): Act =>
  async (url, ledger) => {
    const runOne = async () => {
      const order = orderOf(oneOf<Fate>('answer', 'answer', 'answer', 'tool', 'fail'), 3 + upTo(8), 150)
      const headers = { ...QUEUED_HEADERS, 'idempotency-key': crypto.randomUUID() }
      const begin = () => begun(again, `${url}/api/agents/${QUEUED}`, order, headers)
      const { id, status } = await begin()
      if (status === 'queued') ledger.queued++
      if (Math.random() < 0.2) {
        const found = await begin()
        expect(found.id === id, 'a run doubled by its idempotency key', () => `${id} ${found.id}`)
      }
      const at = `${url}/api/runs/${id}`
      const listener = new Listener(ledger)
      await followed(again, at, listener, ledger, QUEUED_HEADERS)
      listener.expectEnd(order)
      const isFailed = order.fate === 'fail'
      if (!isFailed) await expectRecord(again, at, textOfOrder(order), QUEUED_HEADERS)
      ledger.note('queued', order, listener.resumed > 0)
      ledger.tell(id, isFailed ? 'run.failed' : 'run.completed')
    }
    /** It may be cut off by a kill, and is not counted. */
    const takeOut = async () => {
      const order = orderOf('wait', 1, 0)
      const { id } = await begun(again, `${url}/api/agents/${NEIGHBOUR}`, order, QUEUED_HEADERS)
      const cancel = () => post(`${url}/api/runs/${id}/cancel`, {}, undefined, QUEUED_HEADERS)
      const answer = await again(async () => reached(await cancel()).text())
      const isOver = JSON.parse(answer).code === 'run_ended'
      const at = `${url}/api/runs/${id}`
      const record = isOver
        ? await again(async () => reached(await fetch(at, { headers: QUEUED_HEADERS })).text())
        : answer
      const { status, error } = JSON.parse(record)
      const isRight = isOver ? error?.code === 'interrupted' : status === 'cancelled'
      expect(isRight, 'not a cancelled run in the queue', () => record)
      ledger.tell(id, isOver ? 'run.failed' : 'run.cancelled')
    }
    await Promise.all([...Array.from({ length: 8 + upTo(16) }, runOne), takeOut()])
  }

/** Milliseconds between two looks at the runs of the schedule. */
const LOOK_MS = 5000

/** Looks at the runs that the schedule has started, and notes which tick each one says. */
export const ticks =
  (again: Again): Act =>
  async (url, ledger) => {
    const headers = { 'x-client': TICKER }
    const read = async (path: string) =>
      JSON.parse(await again(async () => reached(await fetch(`${url}/api/runs${path}`, { headers })).text()))
    const { runs } = (await read('?limit=50')) as { runs: { id: string; status: string }[] }
    for (const { id, status } of runs) {
      if (status === 'queued' || status === 'running' || ledger.isTick(id)) continue
      const { result } = await read(`/${id}`)
      expect(status === 'completed', 'a run of a tick that failed', () => `${id} ${status}`)
      ledger.tick(id, result.text)
      ledger.tell(id, 'run.completed')
    }
    await sleep(LOOK_MS)
  }
