/** A second server process on the same SQLite file. It is killed and started again. */

import type { Runtime } from '../../test/runtimes/harness.ts'
import type { Client } from './clients.ts'
import type { Ledger } from './ledger.ts'
import { type Fate, KINDS, type Kind, NEIGHBOUR, type Order, textOfOrder, writeOrder } from './orders.ts'
import { type Again, begun, followed, lastingRun, reached } from './stored.ts'
import {
  type Act,
  anyEnd,
  CUT_OFF,
  EVENTS,
  expect,
  expectTask,
  expectWhole,
  Listener,
  messageOf,
  oneOf,
  orderOf,
  PATIENCE_MS,
  patiently,
  post,
  REFUSED,
  rpc,
  sleep,
  type Task,
  taskOf,
  upTo,
  Wrong,
} from './traffic.ts'

/** The neighbour's current process, and what happened to earlier ones. */
export interface Neighbour {
  readonly url: string
  /** Number of kills. */
  readonly kills: number
  /** Changes when a process is about to be killed, and when it is back. */
  readonly era: number
  /** Whether it is running and not about to be killed. */
  readonly isThere: boolean
  /** When the last kill was done, and when its process was back. Infinity while it is under way. */
  readonly deadAt: number
  readonly backAt: number
  /** Called before a kill. */
  onKill: () => void
  /** Runs that ended as interrupted. */
  interrupted: number
  /** Acts that ended since the state was busy. */
  refused: number
  /** How often workflows went on in another process. */
  resumed: number
  /** The output of all its processes. */
  log(): string
  /** Kills nothing any more. */
  rest(): Promise<void>
  stop(): Promise<void>
}

/** Starts processes, and kills one of them every `killEveryMs`, in turn. The neighbour's address is the first one's. */
export async function startNeighbours(
  starts: readonly (() => Promise<Runtime>)[],
  killEveryMs: number,
): Promise<Neighbour> {
  const runtimes = await Promise.all(starts.map(start => start()))
  let kills = 0
  let era = 0
  let deadAt = Number.NEGATIVE_INFINITY
  let backAt = Number.NEGATIVE_INFINITY
  let past = ''
  let isOver = false
  const stopping = Promise.withResolvers<void>()
  const rest = async () => {
    isOver = true
    stopping.resolve()
    await killing
  }
  const neighbour: Neighbour = {
    get url() {
      return runtimes[0]!.url
    },
    get kills() {
      return kills
    },
    get era() {
      return era
    },
    get isThere() {
      return era % 2 === 0
    },
    get deadAt() {
      return deadAt
    },
    get backAt() {
      return backAt
    },
    onKill: () => {},
    interrupted: 0,
    refused: 0,
    resumed: 0,
    log: () => past + runtimes.map(logOf).join(''),
    rest,
    async stop() {
      await rest()
      await Promise.all(runtimes.map(runtime => runtime.stop()))
    },
  }
  const killing = (async () => {
    while (true) {
      await Promise.race([sleep(killEveryMs), stopping.promise])
      if (isOver) return
      const which = kills++ % starts.length
      const runtime = runtimes[which]!
      neighbour.onKill()
      era++
      deadAt = backAt = Number.POSITIVE_INFINITY
      await runtime.kill()
      deadAt = performance.now()
      past += logOf(runtime)
      runtimes[which] = await starts[which]!()
      backAt = performance.now()
      era++
    }
  })()
  return neighbour
}

/** Its output, without the messages about its kills. */
const logOf = (runtime: Runtime) => runtime.log().replaceAll(/exited with SIG(KILL|TERM)/g, '')

/** The value of the work. Undefined if the neighbour was killed meanwhile, since then any failure is expected. */
async function unlessKilled<T>(neighbour: Neighbour, work: () => Promise<T>): Promise<T | undefined> {
  const { era, isThere } = neighbour
  try {
    return await work()
  } catch (error) {
    // Even a killed process gives no wrong answer.
    if (error instanceof Wrong || (isThere && neighbour.era === era)) throw error
    await sleep(100)
    return undefined
  }
}

/** Whether what began then may fail: a process was killed meanwhile. */
export function isExcused({ deadAt }: Neighbour, since: number): boolean {
  return deadAt >= since
}

/** Does work again if a kill has cut it off, or the state is away. What asks the killed process itself waits until it is back. */
export const againIn =
  (neighbour: Neighbour, isThere = false): Again =>
  async work => {
    while (true) {
      const since = performance.now()
      try {
        return await patiently(work)
      } catch (error) {
        const isCutOff = isThere ? neighbour.backAt >= since : isExcused(neighbour, since)
        if (error instanceof Wrong || !isCutOff) throw error
        await sleep(100)
      }
    }
  }

/** Most runs of an act that was cut off. */
export const MAX_RUNS = 5

/** A stored run that is followed through any process, and perhaps cancelled. It may be interrupted, but nothing of it is lost. */
export const keptRun =
  (neighbour: Neighbour): Act =>
  async (url, ledger) => {
    const { era } = neighbour
    const again = againIn(neighbour)
    const order = orderOf(oneOf<Fate>(anyEnd(), anyEnd(), 'wait'), 5 + upTo(60), oneOf(0, 1, 5, 20))
    const { id } = await begun(again, `${url}/api/agents/followed`, order)
    const at = `${url}/api/runs/${id}`
    const cancel = async () => {
      await sleep(upTo(100))
      return again(async () => reached(await post(`${at}/cancel`, {})).text())
    }
    const cancelled = order.fate === 'wait' ? cancel() : undefined
    // An earlier failure is reported in place of this one.
    cancelled?.catch(() => {})
    const listener = new Listener(ledger)
    await followed(again, at, listener, ledger)
    const said = await cancelled
    if (listener.ending?.code === 'interrupted') {
      ledger.doubt('followed', 1)
      ledger.tell(id, 'run.failed')
      return expectInterrupted(neighbour, era, listener.text, order)
    }
    if (said !== undefined) expect(JSON.parse(said).status === 'cancelled', 'not cancelled', () => said)
    expectWhole(listener, order)
    ledger.note('followed', order, listener.text === '')
    ledger.tell(id, EVENTS[order.fate])
  }

/** A client of the server, whose runs in the background may have waited for a place, and have begun at the neighbour. */
export function sharing(neighbour: Neighbour, client: Client): Client {
  const [who] = client
  if (who === 'followed') return [who, [keptRun(neighbour)]]
  return enduring(neighbour, client, (what, since) => what === CUT_OFF && isExcused(neighbour, since))
}

/** The kinds of which runs may have begun at the neighbour. */
export const SHARED: readonly Kind[] = ['followed', 'sockets', 'queued', 'mcp']

/** A client whose acts may end since the state is busy, and may fail where that is excused. They may have been counted. */
export function enduring(
  neighbour: Neighbour,
  [who, acts]: Client,
  isExcusedAct: (what: string, since: number) => boolean = () => false,
): Client {
  const kind = KINDS.find(each => each === who)
  const failed = (error: unknown, since: number, ledger: Ledger) => {
    const what = error instanceof Wrong ? error.what : ''
    if (what === REFUSED) neighbour.refused++
    else if (!isExcusedAct(what, since)) throw error
    if (kind !== undefined) ledger.doubt(kind, MAX_RUNS)
  }
  const endure =
    (act: Act): Act =>
    (url, ledger) => {
      const since = performance.now()
      return act(url, ledger).catch(error => failed(error, since, ledger))
    }
  return [who, acts.map(endure)]
}

/** A stored run at the neighbour. If the stream is lost, the client continues at the server, and reads the end there. */
export const lostStream =
  (neighbour: Neighbour): Act =>
  async (url, ledger) => {
    const { era } = neighbour
    const order = orderOf(anyEnd(), 5 + upTo(60), 20)
    const listener = new Listener(ledger)
    const body = { input: writeOrder(order), background: true }
    const response = await unlessKilled(neighbour, () =>
      post(`${neighbour.url}/api/agents/${NEIGHBOUR}/stream`, body),
    )
    const id = response?.headers.get('x-run-id')
    if (response === undefined) return
    const after = 1 + upTo(3000)
    const isWhole = await unlessKilled(neighbour, () => listener.read(response, { after, now: () => {} }))
    if (!isWhole) {
      ledger.cuts++
      const headers = { 'last-event-id': String(listener.lastId) }
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const rest = await fetch(`${url}/api/runs/${id}/stream`, { headers, signal })
      const isEnded = await listener.read(rest)
      expect(isEnded, 'a run of a neighbour without an end', () => listener.text)
    }
    if (listener.ending?.code !== 'interrupted') return listener.expectEnd(order)
    expectInterrupted(neighbour, era, listener.text, order)
  }

/** Checks a run whose process was killed while it was running: it is interrupted, and its text is kept. */
export function expectInterrupted(neighbour: Neighbour, era: number, text: string, order: Order): void {
  const says = () => `${text} for ${writeOrder(order)}`
  expect(neighbour.era > era, 'interrupted, though nobody was killed', says)
  expect(textOfOrder(order).startsWith(text), 'not the text of an interrupted run', says)
  neighbour.interrupted++
}

/** A task that is started at the neighbour and requested at the server until it has ended. */
export const lostTask =
  (neighbour: Neighbour): Act =>
  async url => {
    const { era } = neighbour
    const order = orderOf(anyEnd(), 1 + upTo(20), 20)
    const message = { ...messageOf(order), metadata: { agentName: NEIGHBOUR } }
    const params = { message, configuration: { blocking: false } }
    const begin = async () => taskOf(await rpc(neighbour.url, 'message/send', params))
    const begun = await unlessKilled(neighbour, begin)
    if (begun === undefined) return
    const task = await endOf(begun.id, url)
    const text = task.artifacts?.[0]?.parts.map(part => part.text).join('') ?? ''
    const isWhole = text === textOfOrder(order) && (task.status.state !== 'failed' || order.fate === 'fail')
    if (isWhole) expectTask(task, order)
    else expectInterrupted(neighbour, era, text, order)
  }

/** A task after it has ended. */
async function endOf(id: string, url: string): Promise<Task> {
  const until = performance.now() + PATIENCE_MS
  while (true) {
    const task = await taskOf(await rpc(url, 'tasks/get', { id }))
    if (task.status.state !== 'working' && task.status.state !== 'submitted') return task
    expect(performance.now() < until, 'a task of a neighbour without an end', () => JSON.stringify(task))
    await sleep(50)
  }
}

/** The clients of the neighbour, each with its acts. */
export function neighbourly(neighbour: Neighbour): readonly (readonly Act[])[] {
  const lost = [lostStream(neighbour), lostTask(neighbour)]
  const lasting = lastingRun(againIn(neighbour, true), { at: () => neighbour.url, fate: neighbour })
  return [...Array.from({ length: 6 }, () => lost), [lasting], [lasting]]
}

/** The neighbour's fate, in words. */
export function fateOf({ kills, interrupted, refused, resumed }: Neighbour): string {
  return (
    `The neighbour was killed ${kills} times; ${interrupted} runs and tasks of its ended as interrupted; workflows went on in ` +
    `another process ${resumed} times; ${refused} acts were refused since the state was busy.`
  )
}

/** The failed checks of the neighbour at the end. */
export function wrongWith({ kills, interrupted }: Neighbour): string[] {
  return kills > 0 && interrupted === 0 ? ['a neighbour was killed, and nobody was interrupted'] : []
}
