/**
 * The events of a run, for people: one line for what belongs together.
 *
 * @module
 */

import type { InputRequest, RunEvent } from '../agents/contract.ts'

/** What happened in a run. */
export interface Moment {
  /** For people: `tool_call forecast {"city":"Oslo"}`. */
  readonly line: string
  /** The events that it was. */
  readonly events: readonly RunEvent[]
  /** One event for all of them: text that came in pieces is whole here. */
  readonly whole: RunEvent
}

/** Most characters of a value in a line. A longer one is cut, and ends with its length. */
const MAX_VALUE = 2000

/**
 * What happened, in order. Text and reasoning that came in pieces are joined; a tool call is one line, once its arguments are
 * complete.
 */
export function momentsOf(events: readonly RunEvent[]): Moment[] {
  const moments: Moment[] = []
  const names = new Map<string, string>()
  let begun: RunEvent[] = []
  for (const event of events) {
    if (event.type === 'tool_call_start') names.set(event.toolCall.id, event.toolCall.name)
    if (event.type === 'tool_call_start' || event.type === 'tool_call_delta') {
      begun.push(event)
      continue
    }
    const joined = joinedTo(moments.at(-1), event)
    if (joined !== undefined) moments[moments.length - 1] = joined
    else if (event.type === 'tool_call_ready') {
      const isOf = (each: RunEvent) => callOf(each) === event.toolCallId
      moments.push({ line: lineOf(event, names), events: [...begun.filter(isOf), event], whole: event })
      begun = begun.filter(each => !isOf(each))
    } else moments.push({ line: lineOf(event, names), events: [event], whole: event })
  }
  for (const event of begun) {
    if (event.type === 'tool_call_start')
      moments.push({
        line: `tool_call ${event.toolCall.name} (its arguments are not complete)`,
        events: [event],
        whole: event,
      })
  }
  return moments
}

/** The lines of a run, one for what belongs together. */
export function transcript(events: readonly RunEvent[]): string {
  return momentsOf(events)
    .map(({ line }) => line)
    .join('\n')
}

function callOf(event: RunEvent): string | undefined {
  if (event.type === 'tool_call_start') return event.toolCall.id
  return event.type === 'tool_call_delta' ? event.toolCallId : undefined
}

/** The moment with one piece more, if the event continues it. */
function joinedTo(last: Moment | undefined, event: RunEvent): Moment | undefined {
  if (event.type !== 'text' && event.type !== 'thinking') return undefined
  const before = last?.whole
  if (last === undefined || before?.type !== event.type) return undefined
  if (before.agent !== event.agent || before.parentId !== event.parentId) return undefined
  const whole = { ...before, text: before.text + event.text }
  return { line: lineOf(whole), events: [...last.events, event], whole }
}

function lineOf(event: RunEvent, names: ReadonlyMap<string, string> = new Map()): string {
  const words = wordsOf(event, id => names.get(id) ?? id)
  const who = event.agent === undefined ? '' : `${event.agent}: `
  return who + words.filter(word => word !== '').join(' ')
}

function wordsOf(event: RunEvent, nameOf: (id: string) => string): string[] {
  switch (event.type) {
    case 'text':
    case 'thinking':
      return [event.type, shown(event.text)]
    case 'tool_call_ready':
      return ['tool_call', nameOf(event.toolCallId), shown(event.args)]
    case 'tool_call_end': {
      const { toolCallId, result, error } = event
      return ['tool_result', nameOf(toolCallId), error === undefined ? shown(result) : `failed: ${error}`]
    }
    case 'step':
      return ['step', event.name, event.status, event.error ?? '']
    case 'model_call':
      return ['model_call', event.model ?? '']
    case 'artifact':
      return ['artifact', event.artifactId, event.name ?? '']
    case 'message':
      return ['message', shown(event.parts)]
    case 'finish':
      return ['finish', event.finishReason, ...(event.requests ?? []).map(requestLine)]
    case 'error':
      return ['error', event.code, shown(event.error)]
    default:
      return [event.type]
  }
}

/** A request, for people: `approval refund {"order":7}`. */
export function requestLine({ kind, toolName = '', args, message }: InputRequest): string {
  return [kind, toolName, shown(args), toolName === '' ? shown(message) : '']
    .filter(each => each !== '')
    .join(' ')
}

/** A value as JSON. */
export function shown(value: unknown): string {
  const text = value === undefined ? '' : (JSON.stringify(value) ?? String(value))
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}… (${text.length} characters)`
}
