/**
 * Sends the events of one run to a client (docs/connect/event-socket.md, "Events of the server"). The run may be of any kind.
 *
 * @module
 */

import type { ErrorEvent, EventFacts, FinishEvent, RunEvent } from '../../../agents/contract.ts'
import { isTerminal } from '../../../agents/event.ts'
import { Fold } from '../../../agents/fold.ts'
import { NO_USAGE } from '../../../agents/usage.ts'

/** Most characters of one text event of a burst. */
const MAX_CHUNK = 16 * 1024

/** What a sender needs. */
export interface EventSenderOptions {
  readonly runId: string
  /** Most characters of the run's answer. */
  readonly maxLength: number
  /** The last log entry that was sent before. Entries up to it are not sent again. */
  readonly after: number
  /** Sends an event. `seq` is the last entry of the run's log in the event. */
  readonly send: (event: string, payload: object, seq: number, isLast: boolean) => void
}

/**
 * Sends the events of a run. Text is sent at once. Text that follows in the same turn of the event loop is collected and
 * sent at the end of the turn, or when the agent changes. So a model's tokens are not delayed, and a burst becomes one
 * event.
 */
export class EventSender {
  readonly #options: EventSenderOptions
  readonly #fold: Fold
  #seq = 0
  #text = ''
  /** The agent of the text, and the step or call that it is in. */
  #from: EventFacts = {}
  #turn: ReturnType<typeof setTimeout> | undefined

  constructor(options: EventSenderOptions) {
    this.#options = options
    this.#fold = new Fold(options.maxLength)
  }

  /** Sends the next event of the run. Throws if the event cannot be written or the answer is too long. */
  push(event: RunEvent): void {
    this.#fold.add(event)
    if (++this.#seq <= this.#options.after) return
    if (event.type === 'text') return this.#addText(event)
    this.stop()
    this.#flush(this.#seq - 1)
    if (isTerminal(event)) this.#send(lastEventOf(event, this.#fold.text), true)
    else this.#send(serverEventOf(event), false)
  }

  /** Clears the timer. */
  stop(): void {
    if (this.#turn !== undefined) clearTimeout(this.#turn)
    this.#turn = undefined
  }

  #addText({ text, agent, parentId }: Extract<RunEvent, { type: 'text' }>): void {
    if (agent !== this.#from.agent || parentId !== this.#from.parentId) {
      this.stop()
      this.#flush(this.#seq - 1)
      this.#from = { agent, parentId }
    }
    this.#text += text
    // A long burst is sent in pieces, so that a slow client can pause it.
    if (this.#turn !== undefined) return this.#text.length < MAX_CHUNK ? undefined : this.#flush(this.#seq)
    this.#flush(this.#seq)
    this.#turn = setTimeout(() => {
      this.#turn = undefined
      this.#flush(this.#seq)
    }, 0)
  }

  #flush(seq: number): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    const [name, payload] = serverEventOf({ type: 'text', text, ...this.#from })
    this.#options.send(name, { ...payload, runId: this.#options.runId }, seq, false)
  }

  #send([name, payload]: ServerEvent, isLast: boolean): void {
    this.#options.send(name, { ...payload, runId: this.#options.runId }, this.#seq, isLast)
  }
}

/** An event and its payload. The run's id is added to the payload. */
type ServerEvent = readonly [name: string, payload: object]

/** Returns the event for a run event other than the end. */
export function serverEventOf(event: Exclude<RunEvent, FinishEvent | ErrorEvent>): ServerEvent {
  const { type, ...rest } = event
  switch (event.type) {
    case 'text':
      return ['agent.chunk', { chunk: event.text, ...whoIn(event) }]
    case 'tool_call_start': {
      const { id, name } = event.toolCall
      return ['agent.tool.call', { toolName: name, args: null, toolCallId: id, ...whoIn(event) }]
    }
    case 'tool_call_end': {
      const { toolCallId, error } = event
      return ['agent.tool.done', { toolCallId, ...(error !== undefined && { error }), ...whoIn(event) }]
    }
    case 'tool_call_delta':
      return ['agent.tool.delta', rest]
    case 'tool_call_ready':
      return ['agent.tool.ready', rest]
    case 'thinking':
    case 'step':
    case 'artifact':
    case 'message':
    case 'model_call':
    case 'resumed':
    case 'steered':
    case 'checkpoint':
    case 'graph_message':
      return [`agent.${type}`, rest]
  }
}

/** The agent of an event, and the step or call that it is in. */
function whoIn({ agent, parentId }: EventFacts): EventFacts {
  return { ...(agent !== undefined && { agent }), ...(parentId !== undefined && { parentId }) }
}

/** Returns the event for the end of a run, with all of its text. */
function lastEventOf(event: FinishEvent | ErrorEvent, text: string): ServerEvent {
  if (event.type === 'error') return ['agent.error', { error: event.error, code: event.code }]
  const { finishReason, usage = NO_USAGE, structured, requests, message } = event
  const payload = {
    output: { text },
    usage,
    finishReason,
    ...(structured != null && { structured }),
    ...(requests && { requests }),
    ...(message !== undefined && { message }),
  }
  return ['agent.done', payload]
}
