import { getEventListeners } from 'node:events'
import type { RunEvent, RunOptions, ServableAgent, Yielded } from '../src/index.ts'
import { Agent } from '../src/index.ts'

/** All items of a source. */
export async function drain<T>(source: AsyncIterable<T> | AsyncIterator<T>): Promise<T[]> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source
  const items: T[] = []
  for (let item = await iterator.next(); !item.done; item = await iterator.next()) items.push(item.value)
  return items
}

/** Waits one turn of the event loop, for due timers, I/O and reports of unhandled rejections. */
export function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A promise that never settles. */
export function never(): Promise<never> {
  return new Promise(() => {})
}

/** Number of listeners for a signal's abort. */
export function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

/** An unregistered agent that says these things. */
export function speaker(name: string, ...says: Yielded[]): Agent {
  return new Agent({
    name,
    register: false,
    async *run() {
      yield* says
    },
  })
}

/** An agent of another developer, which has only `stream`. */
export function foreign(name: string, stream: (options?: RunOptions) => unknown): ServableAgent {
  const servable = { kind: 'agent', name, stream: (_input: unknown, options?: RunOptions) => stream(options) }
  return servable as unknown as ServableAgent
}

/** An event as its servable told it: the time that the run adds to each has tests of its own (`runs/time.test.ts`). */
export function untimed<E extends RunEvent>(event: E): E {
  const { at: _, ...told } = event
  return told as E
}

/** The text of a stream of events, without their times. */
export function untimedText(text: string): string {
  return text.replaceAll(/,"at":\d+\}\n/g, '}\n')
}

/** The text of events, joined. */
export function textIn(events: readonly RunEvent[]): string {
  return events.map(event => (event.type === 'text' ? event.text : '')).join('')
}

/** The events that end a run. */
export function terminalsIn(events: readonly RunEvent[]): RunEvent[] {
  return events.filter(({ type }) => type === 'finish' || type === 'error')
}

/** A value with a type that the compiler would refuse, as untyped code can pass it. */
export function untyped<T>(value: unknown): T {
  return value as T
}
