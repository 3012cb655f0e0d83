/** The event socket's traffic. */

import { io, type Socket } from 'socket.io-client'
import type { Ledger } from './ledger.ts'
import { DECIDED, type Fate, isAsking, type Order, textOfOrder, writeOrder } from './orders.ts'
import {
  type Act,
  anyEnd,
  CUT_OFF,
  expect,
  expectState,
  inTime,
  isStateAway,
  oneOf,
  orderOf,
  PATIENCE_MS,
  REFUSED,
  sleep,
  upTo,
  Wrong,
} from './traffic.ts'

/** The events of a socket, by run. */
class Hearing {
  readonly #text = new Map<string, string>()
  readonly #ends = new Map<string, PromiseWithResolvers<object>>()
  readonly #socket: Socket

  constructor(socket: Socket, ledger: Ledger) {
    this.#socket = socket
    socket.on('agent.chunk', ({ runId, chunk }) => {
      ledger.events++
      this.#text.set(runId, this.textOf(runId) + chunk)
    })
    for (const end of ['agent.done', 'agent.error']) {
      socket.on(end, data => {
        // A run that was refused never began: its acknowledgement says so, too.
        if (data.runId === undefined) return
        if (this.#isEnded.has(data.runId)) ledger.fault('a run that ended twice', JSON.stringify(data))
        this.#isEnded.add(data.runId)
        this.end(data.runId).resolve(data)
      })
    }
  }

  readonly #isEnded = new Set<string>()

  textOf(runId: string): string {
    return this.#text.get(runId) ?? ''
  }

  end(runId: string): PromiseWithResolvers<object> {
    const end = this.#ends.get(runId) ?? Promise.withResolvers<object>()
    this.#ends.set(runId, end)
    return end
  }

  async start(order: Order): Promise<string> {
    const { runId, ...refused } = await this.#socket
      .timeout(PATIENCE_MS)
      .emitWithAck('agent.run', { name: 'sockets', input: writeOrder(order) })
    if (runId === undefined) expectState(JSON.stringify(refused))
    expect(runId !== undefined, 'a run refused on a socket', () => JSON.stringify(refused))
    return runId
  }

  /** Decides what a run asks. Returns the run that goes on. */
  async decide(runId: string, request: object, decision: Fate): Promise<string> {
    const answers = [{ ...request, decision }]
    const ack = await this.#socket.timeout(PATIENCE_MS).emitWithAck('run.answers', { runId, answers })
    if (ack.runId === undefined) expectState(JSON.stringify(ack))
    expect(ack.runId !== undefined && ack.requests === undefined, 'an answer refused on a socket', () =>
      JSON.stringify(ack),
    )
    return ack.runId
  }
}

async function connected(url: string): Promise<Socket> {
  const transports = oneOf(['websocket'], ['polling', 'websocket'], ['polling'])
  // Behind several processes a visit stays with one of them.
  const extraHeaders = { 'x-visit': crypto.randomUUID() }
  const socket = io(`${url}/service`, { transports, forceNew: true, reconnectionDelay: 50, extraHeaders })
  try {
    await reached(socket)
  } catch (error) {
    socket.disconnect()
    throw error
  }
  return socket
}

function refusalOf(why: string): Wrong {
  return new Wrong(isStateAway(why) ? REFUSED : 'a socket that was refused', why)
}

async function reached(socket: Socket): Promise<void> {
  if (socket.connected) return
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('connect_error', error => reject(refusalOf(String(error))))
  })
  await inTime(connected, 'a socket that never came')
}

/** Some runs on one socket. Its connection may be lost, and it may leave in the middle of a run. */
export const socketVisit: Act = async (url, ledger) => {
  const socket = await connected(url)
  try {
    const hearing = new Hearing(socket, ledger)
    const begun = Array.from({ length: 1 + upTo(4) }, () =>
      orderOf(oneOf(anyEnd(), anyEnd(), 'approve', 'deny')),
    )
    const ids = await Promise.all(begun.map(order => hearing.start(order)))
    if (Math.random() < 0.3) await loseConnection(socket, ledger)
    for (const [index, order] of begun.entries()) {
      await expectSocketRun(hearing, ids[index]!, order)
      ledger.note('sockets', order)
    }
    if (Math.random() < 0.4) await leaveOne(socket, hearing, ledger)
  } finally {
    socket.disconnect()
  }
}

async function loseConnection(socket: Socket, ledger: Ledger): Promise<void> {
  await sleep(upTo(30))
  // The stock client ends an upgrade in the same turn as its last poll. If it is closed then, it keeps the poll's events, asks
  // the server for them again, and reports both. It also does so with the stock server.
  const engine = socket.io.engine as unknown as { readonly upgrading: boolean }
  while (engine.upgrading) await sleep(1)
  const gone = new Promise<void>(resolve => socket.once('disconnect', () => resolve()))
  socket.io.engine.close()
  await gone
  await reached(socket)
  ledger.cuts++
  expect(socket.recovered, 'a socket that was not recovered', () => `${socket.id}`)
}

/** Waits for the end of a run. One that asks is answered, and goes on. */
async function expectSocketRun(
  hearing: Hearing,
  runId: string,
  order: Order,
  text = textOfOrder(order),
): Promise<void> {
  const end = await inTime(hearing.end(runId).promise, 'a run without an end on a socket')
  const says = () => `${JSON.stringify(end)} after ${hearing.textOf(runId)} for ${writeOrder(order)}`
  if ('code' in end && end.code === 'interrupted') {
    expect(text.startsWith(hearing.textOf(runId)), 'not the text on a socket', says)
    throw new Wrong(CUT_OFF, says())
  }
  expectState(JSON.stringify(end))
  expect(hearing.textOf(runId) === text, 'not the text on a socket', says)
  if (order.fate === 'fail') {
    return expect('code' in end && end.code === 'agent_failed', 'not the error', says)
  }
  const { finishReason, requests = [] } = end as {
    finishReason?: string
    requests?: { id: string; digest: string }[]
  }
  const isAsked = isAsking(order.fate) && text === textOfOrder(order)
  expect(finishReason === (isAsked ? 'input_required' : 'stop'), 'not the end on a socket', says)
  if (!isAsked) return
  const [{ id, digest }] = requests as [{ id: string; digest: string }]
  const next = await hearing.decide(runId, { id, digest }, order.fate)
  await expectSocketRun(hearing, next, order, DECIDED[order.fate as 'approve' | 'deny'])
}

/** A run that is cancelled by its client's request, or because the client leaves. */
async function leaveOne(socket: Socket, hearing: Hearing, ledger: Ledger): Promise<void> {
  const order = orderOf('wait')
  const runId = await hearing.start(order)
  await sleep(upTo(50))
  if (Math.random() < 0.5) {
    await socket.timeout(PATIENCE_MS).emitWithAck('run.cancel', { runId })
    await inTime(hearing.end(runId).promise, 'a cancelled run without an end on a socket')
  } else socket.disconnect()
  ledger.note('sockets', order, hearing.textOf(runId) === '')
}
