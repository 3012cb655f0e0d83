/** Any run that a servable may tell, through the stock client of each version: with every end, and cut off anywhere. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputRequest, RunEvent } from '../../../src/index.ts'
import { MessageStream } from '../../../src/protocols/ai-sdk-ui/stream.ts'
import { CLIENTS, type Client, type Message, open, type Part } from '../../contracts/ai-sdk-ui/clients.ts'
import { calls, last, shown } from '../../contracts/ai-sdk-ui/page.ts'
import { endings, goingOn, runs } from './arbitrary.ts'

const streamOf = (isStored = false) => new MessageStream({ id: 'm', runId: 'r', isStored })

const encoded = (events: readonly RunEvent[], isStored = false): string => {
  const stream = streamOf(isStored)
  return events.map(event => stream.encode(event)).join('')
}

/** What a page has after a stream, and after the streams that go on with its message. */
async function read(client: Client, ...streams: string[]) {
  const headers = { 'content-type': 'text/event-stream' }
  const left = [...streams]
  const served = { url: 'http://127.0.0.1', fetch: async () => new Response(left.shift(), { headers }) }
  const { chat } = open(client, served, '')
  await chat.sendMessage({ text: 'x' })
  while (left.length > 0) await chat.sendMessage()
  const { status, error } = chat
  const message = last(chat)
  return { status, error, message: message?.role === 'assistant' ? message : undefined }
}

const textOf = (message: Message | undefined, type: string): string =>
  shown(message)
    .filter(part => part.type === type)
    .map(({ text }) => text)
    .join('')

/** The numbers of what was said, without order: several speak at a time. */
const numbersIn = (text: string): number[] =>
  Array.from(text.matchAll(/<(\d+)>/g), ([, number]) => Number(number)).toSorted((a, b) => a - b)

const numbersOf = (events: readonly RunEvent[], type: 'text' | 'thinking'): number[] => [
  ...new Set(numbersIn(events.map(event => (event.type === type ? event.text : '')).join(''))),
]

/** What a page is to show of the calls of a run. */
function callsOf(events: readonly RunEvent[]): Part[] {
  const all = new Map<string, Part>()
  for (const event of events) {
    if (event.type === 'tool_call_start') {
      const { id: toolCallId, name: toolName } = event.toolCall
      all.set(toolCallId, { type: 'dynamic-tool', toolCallId, toolName, state: 'input-streaming' })
    }
    const call = 'toolCallId' in event ? all.get(event.toolCallId) : undefined
    if (call === undefined) continue
    if (event.type === 'tool_call_ready') all.set(String(call.toolCallId), { ...call, ...readyOf(event) })
    if (event.type === 'tool_call_end') all.set(String(call.toolCallId), { ...call, ...endOf(event) })
  }
  return [...all.values()]
}

const readyOf = ({ args = {} }: Extract<RunEvent, { type: 'tool_call_ready' }>) => ({
  state: 'input-available',
  input: args,
})

const endOf = ({ result = null, error }: Extract<RunEvent, { type: 'tool_call_end' }>) =>
  error === undefined
    ? { state: 'output-available', output: result }
    : { state: 'output-error', errorText: error }

function stepsOf(events: readonly RunEvent[]): Record<string, string> {
  const steps = events.flatMap(event => (event.type === 'step' ? [[String(event.id), event.status]] : []))
  return Object.fromEntries(steps)
}

const stepsIn = (message: Message | undefined): Record<string, string> =>
  Object.fromEntries(
    shown(message).flatMap(({ type, id, data }) =>
      type === 'data-step' ? [[String(id), (data as { status: string }).status]] : [],
    ),
  )

/** The texts of artifacts, joined, by their ids. */
function artifactsOf(events: readonly RunEvent[]): Record<string, string> {
  const all: Record<string, string> = {}
  for (const event of events) {
    if (event.type !== 'artifact') continue
    const text = event.parts.map(part => (part.type === 'text' ? part.text : '')).join('')
    all[event.artifactId] = (event.append ? (all[event.artifactId] ?? '') : '') + text
  }
  return all
}

const artifactsIn = (message: Message | undefined): Record<string, string> =>
  Object.fromEntries(
    shown(message).flatMap(({ type, data }) => {
      if (type !== 'data-artifact') return []
      const { artifactId, parts } = data as { artifactId: string; parts: readonly Part[] }
      return [[artifactId, parts.map(({ text = '' }) => text).join('')]]
    }),
  )

/** Checks what a page shows of a run: `events` are all of it, in which nothing comes twice. */
function expectShown(message: Message | undefined, events: readonly RunEvent[]): void {
  expect(numbersIn(textOf(message, 'text'))).toEqual(numbersOf(events, 'text'))
  expect(numbersIn(textOf(message, 'reasoning'))).toEqual(numbersOf(events, 'thinking'))
  const byId = (one: Part, other: Part) => (String(one.toolCallId) < String(other.toolCallId) ? -1 : 1)
  const own = calls(message).filter(
    ({ type, toolName }) => type === 'dynamic-tool' && toolName !== 'question',
  )
  // A call that is made again in a later step is one more part for newer clients.
  const server = [...new Map(own.map(part => [part.toolCallId, part])).values()].toSorted(byId)
  const expected = callsOf(events).toSorted(byId)
  expect(server.map(({ toolCallId, state }) => [toolCallId, state])).toEqual(
    expected.map(({ toolCallId, state }) => [toolCallId, state]),
  )
  expect(server).toMatchObject(expected)
  expect(stepsIn(message)).toEqual(stepsOf(events))
  const texts = Object.entries(artifactsOf(events)).filter(([, text]) => text !== '')
  expect(artifactsIn(message)).toMatchObject(Object.fromEntries(texts))
  const messages = events.filter(({ type }) => type === 'message')
  const told = textOf(message, 'text').split('A message.').length - 1
  const spoken = messages.filter(event => JSON.stringify(event).includes('A message.'))
  expect(told).toBe(spoken.length)
}

function expectEnded(message: Message | undefined): void {
  const spoken = shown(message).filter(({ type }) => type === 'text' || type === 'reasoning')
  for (const { state } of spoken) expect(state).toBe('done')
}

const reasonOf = (end: RunEvent) => (end.type === 'finish' ? end.finishReason : undefined)

type Kind = InputRequest['kind']

/** What a run waits for, and how it makes the call that waits. */
const requestOf = (kind: Kind): InputRequest => ({
  ...{ id: `r/${kind}`, kind, digest: 'd' },
  ...(kind === 'question' ? { message: 'Which?' } : { toolCallId: 'own', toolName: 'pay', args: { a: 1 } }),
})
const callOf = (kind: Kind): readonly RunEvent[] =>
  kind === 'question'
    ? []
    : [
        {
          type: 'tool_call_start',
          toolCall: { id: 'own', name: 'pay' },
          ...(kind === 'client_tool' && { isClientTool: true }),
        },
        { type: 'tool_call_delta', toolCallId: 'own', argumentsDelta: '{"a":1}' },
        { type: 'tool_call_ready', toolCallId: 'own', args: { a: 1 } },
      ]
const RESULT: RunEvent = { type: 'tool_call_end', toolCallId: 'own', result: 'done' }

/** What is said later has other numbers. */
const renumbered = (event: RunEvent): RunEvent =>
  event.type === 'text' || event.type === 'thinking'
    ? { ...event, text: event.text.replace('<', '<1000') }
    : event

/** For each of four versions of the client. */
const RUNS = { numRuns: 60 }

describe.each(CLIENTS)('a chat of AI SDK $version', client => {
  it('shows any run with any end', async () => {
    const property = fc.asyncProperty(runs, endings, fc.boolean(), async (events, end, isStored) => {
      const text = encoded([...events, end], isStored)
      const { status, error, message } = await read(client, text)
      if (end.type === 'error') {
        expect([status, error?.message]).toEqual(['error', end.error])
      } else {
        expect(error).toBeUndefined()
        expect(status).toBe('ready')
        expect(message?.metadata).toMatchObject({ runId: 'r', finishReason: reasonOf(end) })
      }
      expectShown(message, events)
      expectEnded(message)
    })
    await fc.assert(property, RUNS)
  })

  it('shows what came of a run that is cut off, cancelled or failed anywhere', async () => {
    const property = fc.asyncProperty(runs, fc.nat(), async (events, seed) => {
      const before = events.slice(0, seed % (events.length + 1))
      const cut = await read(client, encoded(before))
      expect(cut.error).toBeUndefined()
      const cancelled = encoded([...before, { type: 'finish', finishReason: 'cancelled' }])
      const stopped = await read(client, cancelled)
      expect([stopped.status, stopped.error]).toEqual(['ready', undefined])
      const late: RunEvent = { type: 'error', code: 'run_timeout', error: 'The run took too long' }
      const failed = await read(client, encoded([...before, late]))
      expect(failed.error?.message).toBe(late.error)
      for (const { message } of [stopped, failed]) {
        expectShown(message, before)
        expectEnded(message)
      }
    })
    await fc.assert(property, RUNS)
  })

  it('shows a run once that died anywhere and went on', async () => {
    const property = fc.asyncProperty(runs, endings, fc.nat(), async (events, end, seed) => {
      const told = goingOn(events, seed % (events.length + 1))
      const { message } = await read(client, encoded([...told, end], true))
      expectShown(message, events)
      expectEnded(message)
    })
    await fc.assert(property, RUNS)
  })

  it('shows a run that waits and goes on, as two streams and as one', async () => {
    const kinds = fc.constantFrom<Kind>(
      ...(client.approves ? (['approval'] as const) : []),
      'client_tool',
      'question',
    )
    const property = fc.asyncProperty(runs, runs, kinds, endings, async (before, after, kind, end) => {
      const request = requestOf(kind)
      const call = callOf(kind)
      const waits = { type: 'finish', finishReason: 'input_required', requests: [request] } as const
      const later = [...call, ...(call.length > 0 ? [RESULT] : []), ...after.map(renumbered)]
      const first = [...before, ...call]
      const again = new MessageStream({ id: 'm', runId: 's', isStored: true, answered: [request] })
      const second = [...later, end].map(event => again.encode(event)).join('')
      const chain = streamOf(true)
      const told = first.map(event => chain.encode(event)).join('') + chain.continued(waits)
      const whole = told + [...later, end].map(event => chain.encode(event)).join('')
      for (const streams of [[encoded([...first, waits]), second], [whole]]) {
        const { error, message } = await read(client, ...streams)
        expect(error?.message).toBe(end.type === 'error' ? end.error : undefined)
        expectShown(message, [
          ...before,
          ...(kind === 'approval' ? [...call, RESULT] : []),
          ...after.map(renumbered),
        ])
        expectEnded(message)
      }
    })
    await fc.assert(property, RUNS)
  })
})

describe('the stream of a run', () => {
  it('is the same each time', () => {
    const property = fc.property(runs, endings, fc.boolean(), (events, end, isStored) => {
      const all = [...events, end]
      expect(encoded(all, isStored)).toBe(encoded(all, isStored))
    })
    fc.assert(property)
  })

  it('begins with its message, and ends once', () => {
    const property = fc.property(runs, endings, (events, end) => {
      const chunks = encoded([...events, end])
        .split('\n\n')
        .slice(0, -1)
      expect(JSON.parse(chunks[0]?.slice(6) ?? '')).toMatchObject({ type: 'start', messageId: 'm' })
      expect(chunks.filter(chunk => chunk.includes('[DONE]'))).toEqual(['data: [DONE]'])
      expect(chunks.at(-1)).toBe('data: [DONE]')
    })
    fc.assert(property)
  })
})
