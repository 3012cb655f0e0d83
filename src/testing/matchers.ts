/**
 * What a run did, asserted with readable errors: as functions that throw, and as matchers of `expect`.
 *
 * @module
 */

import type { InputRequest, RunEvent, RunResult } from '../agents/contract.ts'
import { type Moment, momentsOf, requestLine, shown } from './transcript.ts'

/** What a run did: its events, or its result. */
export type RunOutput = readonly RunEvent[] | Pick<RunResult, 'text' | 'toolCalls'>

/**
 * Something that happens in a run: a line of its transcript, a pattern that such a line has, or some members of an event. Text that
 * came in pieces counts as one event.
 */
export type ExpectedEvent =
  | string
  | RegExp
  | { readonly type: RunEvent['type']; readonly [member: string]: unknown }

/** A tool call: its name, or some of its members. Of `args` and `result` it may have some members too. */
export type ExpectedCall =
  | string
  | { readonly name: string; readonly args?: unknown; readonly result?: unknown; readonly error?: unknown }

/** A request: the name of its tool, or some of its members. */
export type ExpectedRequest = string | { readonly [Member in keyof InputRequest]?: unknown }

/** A failed assertion. Its message is for people. */
export class AgentAssertionError extends Error {
  override readonly name = 'AssertionError'
  readonly code = 'ERR_ASSERTION'
}

/** Throws unless these happen in this order. Anything may happen before, between and after them. */
export function assertEvents(events: readonly RunEvent[], ...expected: readonly ExpectedEvent[]): void {
  check(haveEvents(events, expected))
}

/** Throws unless the text of the run is this, or has this pattern. */
export function assertText(output: RunOutput, expected: string | RegExp): void {
  check(haveText(output, expected))
}

/** Throws unless the run called exactly these tools, in the order in which their calls began. */
export function assertToolCalls(output: RunOutput, ...expected: readonly ExpectedCall[]): void {
  check(haveToolCalls(output, expected))
}

/** Throws unless the run waits for this. It may wait for more. Without `expected` any request will do. */
export function assertRequest(output: HasRequests, expected?: ExpectedRequest): void {
  check(haveRequest(output, expected))
}

/** What may wait for someone: events, a result or a record. */
export type HasRequests = readonly RunEvent[] | { readonly requests?: readonly InputRequest[] | undefined }

/** What a matcher says. */
interface Verdict {
  readonly pass: boolean
  readonly message: () => string
}

/** For `expect.extend(matchers)` of vitest, `bun test` and Jest. */
export const matchers: {
  toHaveEvents(events: readonly RunEvent[], ...expected: readonly ExpectedEvent[]): Verdict
  toHaveText(output: RunOutput, expected: string | RegExp): Verdict
  toHaveToolCalls(output: RunOutput, ...expected: readonly ExpectedCall[]): Verdict
  toHaveRequest(output: HasRequests, expected?: ExpectedRequest): Verdict
} = {
  toHaveEvents: (events, ...expected) => haveEvents(events, expected),
  toHaveText: haveText,
  toHaveToolCalls: (output, ...expected) => haveToolCalls(output, expected),
  toHaveRequest: haveRequest,
}

/** The types of the matchers: `declare module 'vitest' { interface Matchers<T> extends AgentMatchers<T> {} }`. */
export interface AgentMatchers<R> {
  toHaveEvents(...expected: readonly ExpectedEvent[]): R
  toHaveText(expected: string | RegExp): R
  toHaveToolCalls(...expected: readonly ExpectedCall[]): R
  toHaveRequest(expected?: ExpectedRequest): R
}

function check({ pass, message }: Verdict): void {
  if (!pass) throw new AgentAssertionError(message())
}

function haveEvents(events: readonly RunEvent[], expected: readonly ExpectedEvent[]): Verdict {
  if (!isEvents(events))
    throw new AgentAssertionError('`toHaveEvents` needs the events of a run: `await run.events()`')
  const moments = momentsOf(events)
  const found = new Set<number>()
  let at = 0
  let missing: number | undefined
  for (const [place, each] of expected.entries()) {
    while (at < moments.length && !isLike(moments[at]!, each)) at++
    if (at === moments.length) {
      missing = place
      break
    }
    found.add(at++)
  }
  const lines = moments.map(({ line }, place) => `${found.has(place) ? '✓' : ' '} ${line}`)
  const wanted = expected.map((each, place) => {
    const sign = missing === undefined || place < missing ? '✓' : place === missing ? '✗' : ' '
    return `${sign} ${lineFor(each)}`
  })
  return {
    pass: missing === undefined,
    message: () =>
      [
        missing === undefined
          ? 'The run did this in order, and should not have:'
          : `The run did not do this in order${missing === 0 ? '' : ' (✓ was found)'}:`,
        ...wanted,
        'It did:',
        ...(lines.length === 0 ? ['  nothing'] : lines),
      ].join('\n'),
  }
}

function isLike({ line, events, whole }: Moment, expected: ExpectedEvent): boolean {
  if (typeof expected === 'string') return line === expected
  if (expected instanceof RegExp) return fits(line, expected)
  return includes(whole, expected) || events.some(event => includes(event, expected))
}

function lineFor(expected: ExpectedEvent): string {
  return typeof expected === 'string' || expected instanceof RegExp
    ? `${expected}`
    : shown(readable(expected))
}

function haveText(output: RunOutput, expected: string | RegExp): Verdict {
  const text = isEvents(output) ? textOf(output) : output.text
  const pass = typeof expected === 'string' ? text === expected : fits(text, expected)
  return {
    pass,
    message: () =>
      [
        pass ? 'The text of the run is this, and should not be:' : 'The text of the run is another one:',
        `- ${typeof expected === 'string' ? shown(expected) : expected}`,
        `+ ${shown(text)}`,
        ...during(output),
      ].join('\n'),
  }
}

/** The text of the run's own servable. */
function textOf(events: readonly RunEvent[]): string {
  const own = events.slice(events.findLastIndex(({ type }) => type === 'resumed') + 1)
  return own.map(event => (event.type === 'text' && event.parentId === undefined ? event.text : '')).join('')
}

interface Call {
  readonly id?: string
  readonly name: string
  readonly args?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

function haveToolCalls(output: RunOutput, expected: readonly ExpectedCall[]): Verdict {
  const calls = isEvents(output) ? callsIn(output) : output.toolCalls.map(toCall)
  const wanted = expected.map(each => (typeof each === 'string' ? { name: each } : each))
  const pass = calls.length === wanted.length && calls.every((call, place) => includes(call, wanted[place]))
  return {
    pass,
    message: () => {
      const length = Math.max(calls.length, wanted.length)
      const rows = Array.from({ length }, (_, place) => {
        const [call, want] = [calls[place], wanted[place]]
        if (call !== undefined && want !== undefined && includes(call, want)) return [`  ${callLine(call)}`]
        return [
          ...(want ? [`- ${callLine(readable(want) as Call)}`] : []),
          ...(call ? [`+ ${callLine(call)}`] : []),
        ]
      })
      const head = pass
        ? 'The run called exactly these tools, and should not have:'
        : `The run called other tools (- expected, + called):`
      return [head, ...(length === 0 ? ['  none'] : rows.flat()), ...during(output)].join('\n')
    },
  }
}

function toCall({
  toolCallId: id,
  toolName: name,
  args,
  result,
  error,
}: RunResult['toolCalls'][number]): Call {
  return { id, name, args, ...(result !== undefined && { result }), ...(error !== undefined && { error }) }
}

function callsIn(events: readonly RunEvent[]): Call[] {
  const calls = new Map<string, Call>()
  for (const event of events) {
    if (event.type === 'tool_call_start') calls.set(event.toolCall.id, event.toolCall)
    else if (event.type === 'tool_call_ready' || event.type === 'tool_call_end') {
      const { type: _, toolCallId, at: __, ...more } = event
      calls.set(toolCallId, { name: '', ...calls.get(toolCallId), ...more })
    }
  }
  return [...calls.values()]
}

function callLine({ name, args, result, error }: Call): string {
  return [
    name,
    shown(args),
    ...(result === undefined ? [] : [`→ ${shown(result)}`]),
    ...(error === undefined ? [] : [`failed: ${error}`]),
  ]
    .filter(each => each !== '')
    .join(' ')
}

function haveRequest(output: HasRequests, expected?: ExpectedRequest): Verdict {
  const requests = requestsIn(output)
  const wanted = typeof expected === 'string' ? { toolName: expected } : (expected ?? {})
  const pass = requests.some(request => includes(request, wanted))
  return {
    pass,
    message: () =>
      [
        pass ? 'The run waits for this, and should not:' : 'The run does not wait for this:',
        `- ${expected === undefined ? 'any request' : typeof expected === 'string' ? expected : shown(readable(expected))}`,
        ...(requests.length === 0 ? ['+ nothing'] : requests.map(each => `+ ${requestLine(each)}`)),
        ...(isEvents(output) ? during(output) : []),
      ].join('\n'),
  }
}

function requestsIn(output: HasRequests): readonly InputRequest[] {
  if (!isEvents(output)) return output.requests ?? []
  const last = output.at(-1)
  return (last?.type === 'finish' && last.requests) || []
}

/** The transcript below an error, if there are events. */
function during(output: RunOutput | HasRequests): string[] {
  return isEvents(output) ? ['The run:', ...momentsOf(output).map(({ line }) => `  ${line}`)] : []
}

function isEvents(output: unknown): output is readonly RunEvent[] {
  return Array.isArray(output)
}

/** Whether a text has a pattern, wherever a `lastIndex` stands. */
function fits(text: string, pattern: RegExp): boolean {
  return text.search(pattern) !== -1
}

/**
 * Whether a value has all that is expected of it: some members of an object, all items of a list, a text with a pattern. Knows
 * what `expect.any` and its like make.
 */
export function includes(value: unknown, expected: unknown): boolean {
  if (Object.is(value, expected)) return true
  if (expected instanceof RegExp) return typeof value === 'string' && fits(value, expected)
  if (typeof expected !== 'object' || expected === null) return false
  const { asymmetricMatch } = expected as { asymmetricMatch?: unknown }
  if (typeof asymmetricMatch === 'function') return asymmetricMatch.call(expected, value) === true
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(expected))
    return false
  if (Array.isArray(expected) && Array.isArray(value) && expected.length !== value.length) return false
  return Object.entries(expected).every(
    ([name, each]) =>
      (each === undefined && !Object.hasOwn(value, name)) ||
      (Object.hasOwn(value, name) && includes(value[name as keyof typeof value], each)),
  )
}

/** The same value with patterns and matchers as text, for people. */
function readable(value: unknown): unknown {
  if (value instanceof RegExp || (value !== null && typeof Object(value).asymmetricMatch === 'function'))
    return String(value)
  if (Array.isArray(value)) return value.map(readable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, readable(each)]))
}
