/**
 * `servable runs tail`: prints the events of a run as they occur.
 *
 * @module
 */

import process from 'node:process'
import type { RunEvent } from '../agents/contract.ts'
import { passed } from '../base/wake.ts'
import type { Client } from '../client/client.ts'
import { shown, shownLines, shownMs, shownNumbers, shownUsage } from '../features/logs/shown.ts'
import type { RunRecord } from '../runs/stored/record.ts'
import { type Screen, styleOf } from './screen.ts'
import { EXIT } from './service.ts'

/** Milliseconds between two reads: after new events, and at most after a long silence. */
const LOOK_MS = 400
const MAX_LOOK_MS = 2000

/** Most characters of a value on one line. */
const MAX_VALUE = 300

/** Where to begin, and the output format. */
export interface TailOptions {
  /** The number of the event after which to begin. */
  readonly after: number | undefined
  readonly isJson: boolean
}

/**
 * Prints the events of a run until it has ended, and returns the exit code. It reads pages of the log. A follower would count as
 * a client: when the last one disconnects, the service may cancel the run.
 */
export async function tail(
  client: Client,
  id: string,
  { after = 0, isJson }: TailOptions,
  screen: Screen,
): Promise<number> {
  const interrupted = new AbortController()
  const leave = () => interrupted.abort()
  process.once('SIGINT', leave)
  const printer = new RunPrinter(screen)
  try {
    if (!isJson) await screen.line(headOf(await client.runs.get(id, { signal: interrupted.signal }), screen))
    await follow(client, id, after, interrupted.signal, async (number, event) => {
      if (isJson) await screen.json({ id: number, event })
      else await printer.print(event)
    })
    const record = await client.runs.get(id, { signal: interrupted.signal })
    if (!isJson) await printer.end(record)
    return record.status === 'completed' || record.status === 'input_required' ? EXIT.ok : EXIT.failed
  } catch (error) {
    await printer.finishLine()
    if (!interrupted.signal.aborted) throw error
    screen.note(`The run goes on. To cancel it: servable runs cancel ${shown(id)}`)
    return EXIT.left
  } finally {
    process.off('SIGINT', leave)
  }
}

/** Passes on the events after a number until the run has ended. Rejects if the signal fires. */
async function follow(
  client: Client,
  id: string,
  after: number,
  signal: AbortSignal,
  take: (number: number, event: RunEvent) => Promise<void>,
): Promise<void> {
  let position = after
  let waitMs = LOOK_MS
  while (true) {
    const { events, next, ended } = await client.runs.events(id, { after: position }, { signal })
    for (const { id: number, event } of events) await take(number, event)
    if (ended) return
    waitMs = events.length > 0 ? LOOK_MS : Math.min(waitMs * 1.5, MAX_LOOK_MS)
    // After a full page the next one is read at once.
    if (events.length === 0 || next === position) await passed(waitMs, signal)
    else if (events.length < 1000) await passed(LOOK_MS, signal)
    position = next
  }
}

function headOf({ id, kind, name, status, createdAt }: RunRecord, { paint }: Screen): string {
  const facts = `${shown(`${kind} ${name}`, MAX_VALUE)}  ${shown(createdAt)}`
  return `${paint('bold', shown(id))}  ${facts}  ${paint(styleOf(status), shown(status))}`
}

/** Prints events for people. Text continues on its line; every other event has its own line. */
export class RunPrinter {
  readonly #screen: Screen
  #isInLine = false

  constructor(screen: Screen) {
    this.#screen = screen
  }

  async print(event: RunEvent): Promise<void> {
    if (event.type === 'text') return this.#text(event.text)
    const line = lineOf(event)
    if (line === undefined) return
    await this.finishLine()
    const { paint } = this.#screen
    await this.#screen.line(paint(event.type === 'error' ? 'red' : 'dim', shown(line, MAX_VALUE)))
  }

  async #text(text: string): Promise<void> {
    if (text === '') return
    await this.#screen.write(shownLines(text))
    this.#isInLine = !text.endsWith('\n')
  }

  /** Prints the last line: the result of the run and its numbers. */
  async end({ status, finishReason, error, ...numbers }: RunRecord): Promise<void> {
    await this.finishLine()
    const { paint, line } = this.#screen
    const why = error?.code ?? (finishReason === 'stop' ? undefined : finishReason)
    const facts = [why && shown(why), shownNumbers(numbers)].filter(Boolean).join('  ')
    await line(`${paint(styleOf(status), shown(status))}  ${facts}`.trimEnd())
  }

  async finishLine(): Promise<void> {
    if (!this.#isInLine) return
    this.#isInLine = false
    await this.#screen.write('\n')
  }
}

/** An event as a line. Undefined for an event that is not shown. */
function lineOf(event: RunEvent): string | undefined {
  const by = event.agent === undefined ? '' : `${event.agent}: `
  switch (event.type) {
    case 'tool_call_start':
      return `→ ${by}${event.toolCall.name} (${event.toolCall.id})`
    case 'tool_call_ready':
      return `  ${event.toolCallId} ${jsonOf(event.args)}`
    case 'tool_call_end':
      return `← ${by}${event.toolCallId} ${event.error === undefined ? jsonOf(event.result) : `failed: ${event.error}`}`
    case 'step':
      return `· ${by}${event.name} ${event.status}${timeOf(event)}${event.error ? `: ${event.error}` : ''}`
    case 'model_call':
      return `· ${by}${event.model ?? 'model'}${timeOf(event)}${event.usage ? `  ${shownUsage(event.usage)}` : ''}`
    case 'artifact':
      return `· ${by}artifact ${event.name ?? event.artifactId}`
    case 'message':
      return `· ${by}${event.parts.map(part => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')}`
    case 'steered':
      return `· message: ${event.parts.map(part => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')}`
    case 'resumed':
      return '· the process died, and the run goes on: its text comes again'
    case 'error':
      return `${event.code}: ${event.error}`
    case 'finish':
      return event.requests?.map(({ kind, id, message }) => `? ${kind} ${id} ${message ?? ''}`).join('  ')
    default:
      return undefined
  }
}

function timeOf({ durationMs }: { readonly durationMs?: number | undefined }): string {
  return durationMs === undefined ? '' : `  ${shownMs(durationMs)}`
}

function jsonOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
