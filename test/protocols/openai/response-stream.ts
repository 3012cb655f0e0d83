/** Reads the events of a response as strict clients do: throws for whatever is out of order. */
import { expect } from 'vitest'
import { dataIn } from './any-run.ts'

export interface Item {
  readonly id: string
  readonly type: string
  readonly status?: string
  readonly [name: string]: unknown
}

export interface ResponseObject {
  readonly id: string
  readonly status: string
  readonly output: readonly Item[]
  readonly error: { readonly code: string } | null
  readonly incomplete_details: { readonly reason: string } | null
  readonly [name: string]: unknown
}

export interface Told {
  readonly type: string
  readonly sequence_number: number
  readonly output_index?: number
  readonly item_id?: string
  readonly item?: Item
  readonly delta?: string
  readonly response?: ResponseObject
  readonly [name: string]: unknown
}

const ENDS = ['response.completed', 'response.incomplete', 'response.failed']

/** What is known of an item while it is told. */
interface Telling {
  readonly id: string
  readonly type: string
  /** The events of it so far, without their deltas. */
  readonly steps: string[]
  text: string
  done: Item | undefined
}

/** What an item's events are between `added` and `done`. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  message: ['content_part.added', 'output_text.done', 'content_part.done'],
  reasoning: ['reasoning_summary_part.added', 'reasoning_summary_text.done', 'reasoning_summary_part.done'],
  function_call: ['function_call_arguments.done'],
  mcp_call: ['mcp_call.in_progress', 'mcp_call_arguments.done', 'mcp_call.completed'],
  mcp_approval_request: [],
}

const textOf = (item: Item): unknown => {
  const [part] = (item.content ?? item.summary ?? []) as { text: string }[]
  return item.type === 'function_call' ? item.arguments : part?.text
}

export function eventsIn(stream: string): { readonly events: Told[]; readonly isDone: boolean } {
  const { data, isDone } = dataIn(stream)
  const events: Told[] = data.map(text => JSON.parse(text))
  const names = stream.split('\n').flatMap(line => (line.startsWith('event: ') ? line.slice(7) : []))
  expect(names).toEqual(events.map(({ type }) => type))
  return { events, isDone }
}

/** The last response of a whole stream. */
export function readStrictly(stream: string): ResponseObject {
  const { events, isDone } = eventsIn(stream)
  expect(isDone).toBe(true)
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
  const begin = ['response.created', 'response.in_progress']
  expect(events.slice(0, begin.length).map(({ type }) => type)).toEqual(begin)
  const last = events.at(-1)?.response
  expect(ENDS).toContain(events.at(-1)?.type)
  if (last === undefined) throw new Error('The last event has no response')
  const items: Telling[] = []
  for (const event of events.slice(begin.length, -1)) see(event, items)
  for (const { response } of events) if (response !== undefined) expect(response.id).toBe(last.id)
  expect(items.map(({ done }) => done)).toEqual(last.output)
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
  return last
}

function see(event: Told, items: Telling[]): void {
  const { type, output_index = -1, item } = event
  if (type === 'response.output_item.added') {
    expect(output_index).toBe(items.length)
    // One item after the other.
    expect(items.filter(({ done }) => done === undefined)).toEqual([])
    items.push({ id: item?.id ?? '', type: item?.type ?? '', steps: [], text: '', done: undefined })
    return
  }
  const telling = items[output_index]
  if (telling === undefined || telling.done !== undefined) throw new Error(`${type} of no open item`)
  if (type === 'response.output_item.done') finish(telling, item as Item)
  else tell(telling, event)
}

function tell(telling: Telling, { type, item_id, delta, text }: Told): void {
  expect(item_id).toBe(telling.id)
  if (type.endsWith('.delta')) {
    expect(delta).not.toBe('')
    telling.text += delta
    const isSpoken = telling.type === 'message' || telling.type === 'reasoning'
    expect(telling.steps).toEqual(isSpoken ? STEPS[telling.type]?.slice(0, 1) : [])
    return
  }
  telling.steps.push(type.replace('response.', ''))
  if (type === 'response.output_text.done') expect(text).toBe(telling.text)
}

function finish(telling: Telling, item: Item): void {
  const { id, type, status } = item
  expect([id, type]).toEqual([telling.id, telling.type])
  expect(status).not.toBe('in_progress')
  const steps = telling.steps.map(step => step.replace('mcp_call.failed', 'mcp_call.completed'))
  expect(steps).toEqual(STEPS[type])
  if (type !== 'mcp_call' && type !== 'mcp_approval_request') expect(textOf(item)).toBe(telling.text)
  telling.done = item
}
