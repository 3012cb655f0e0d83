/**
 * The cost of an event in the words of the AI SDK, of AG-UI, of OpenAI and of Anthropic: beside our own server-sent events, and beside what the
 * packages of these protocols, or handlers written by hand, take for the same messages. Then calls a CPU-second over MCP, and requests
 * a CPU-second of OpenAI's interface, in processes of their own. Run with `npm run bench`.
 */

import type { BaseEvent } from '@ag-ui/core'
import { EventEncoder } from '@ag-ui/encoder'
import { createUIMessageStreamResponse, type UIMessageChunk } from 'ai'
import type { RunEvent } from '../src/index.ts'
import { AgUiEncoder } from '../src/protocols/ag-ui/encoder.ts'
import { MessageStream } from '../src/protocols/ai-sdk-ui/stream.ts'
import { MessageEncoder } from '../src/protocols/anthropic/encoder.ts'
import { ChatEncoder } from '../src/protocols/openai/chat/encoder.ts'
import { ResponseEncoder } from '../src/protocols/openai/responses/encoder.ts'
import { eventToJson } from '../src/runs/event-json.ts'
import { pulled, sseMessage, sseStream } from '../src/web/sse.ts'
import { besideSdk } from './mcp.ts'
import { type Comparison, compare, table } from './measure.ts'
import { besideOthers } from './peers/openai.ts'

/** An encoder that needs no positions. */
interface Encoder {
  encode(event: RunEvent): string
}

const EVENTS = 2000

/** So many runs are encoded for one figure. */
const RUNS = 100

/** What a model says: pieces of text of a few characters. */
const TEXT: readonly RunEvent[] = ended(
  Array.from({ length: EVENTS }, (_, at): RunEvent => ({ type: 'text', text: ` word${at % 10}`, at })),
)

/** Of twenty events: thinking, text, and a call of a tool inside of a step. */
const MIX: readonly RunEvent[] = ended(Array.from({ length: EVENTS / 20 }, (_, at) => round(at)).flat())

function round(number: number): RunEvent[] {
  const toolCallId = `call-${number}`
  const name = `step-${number}`
  const inside = { agent: 'helper', parentId: name }
  const say = (type: 'text' | 'thinking', count: number) =>
    Array.from({ length: count }, (_, at): RunEvent => ({ type, text: ` word${at}`, ...inside, at }))
  return [
    { type: 'step', id: name, name, status: 'started', index: number },
    ...say('thinking', 4),
    ...say('text', 5),
    { type: 'tool_call_start', toolCall: { id: toolCallId, name: 'search' }, ...inside },
    { type: 'tool_call_delta', toolCallId, argumentsDelta: '{"query":', ...inside },
    { type: 'tool_call_delta', toolCallId, argumentsDelta: '"ratios"}', ...inside },
    { type: 'tool_call_ready', toolCallId, args: { query: 'ratios' }, ...inside },
    { type: 'tool_call_end', toolCallId, result: { found: ['one', 'two'] }, ...inside },
    ...say('text', 5),
    { type: 'step', id: name, name, status: 'completed', index: number, durationMs: 12 },
  ]
}

function ended(events: readonly RunEvent[]): RunEvent[] {
  const usage = { promptTokens: 900, completionTokens: 120, totalTokens: 1020 }
  return [...events, { type: 'finish', finishReason: 'stop', usage }]
}

const id = '5f0c9d0e-8a52-4bd4-9f4b-0c1d2e3f4a5b'
const chat = (): Encoder => new MessageStream({ id, runId: id, isStored: false })
const storedChat = (): Encoder => new MessageStream({ id, runId: id, isStored: true })
const agUi = (): Encoder => new AgUiEncoder({ runId: id, client: { threadId: 'thread', runId: 'run' } })
const telling = {
  ...{ runId: id, model: 'helper', createdMs: 1_795_000_000_000, answered: [] },
  ...{ isStream: true, isJson: false, isStored: false, maxLength: Number.MAX_SAFE_INTEGER },
}
const completion = (): Encoder => new ChatEncoder({ ...telling, includesUsage: false })
const responseOf = (isStored: boolean): Encoder =>
  new ResponseEncoder({
    ...{ ...telling, isStored, isKept: isStored, isBackground: false },
    ...{ body: {}, clientTools: undefined, previous: undefined, toolCalls: 'mcp_call', isQueued: false },
  })
const anthropicMessage = (): Encoder =>
  new MessageEncoder({ ...telling, requestId: id, showsThinking: true, toolCalls: 'mcp_tool_use' })
const response = () => responseOf(false)
const storedResponse = () => responseOf(true)

/** Our own encoder. */
function own(): Encoder {
  let number = 0
  return { encode: event => sseMessage(++number, eventToJson(event)) }
}

/** Microseconds of CPU that an event takes to be encoded. */
const encoding =
  (events: readonly RunEvent[], make: () => { encode(event: RunEvent): string }) => async () => {
    let length = 0
    const startedAt = process.cpuUsage()
    for (let run = 0; run < RUNS; run++) {
      const encoder = make()
      for (const event of events) length += encoder.encode(event).length
    }
    return perEvent(startedAt, events, length)
  }

/** The same for a package that writes one message at a time. */
const writing =
  <M>(events: readonly RunEvent[], messages: readonly M[], write: (message: M) => string) =>
  async () => {
    let length = 0
    const startedAt = process.cpuUsage()
    for (let run = 0; run < RUNS; run++) for (const message of messages) length += write(message).length
    return perEvent(startedAt, events, length)
  }

/** Microseconds of CPU that an event takes to leave as bytes of a response, which is read as a server reads it. */
const answering = (events: readonly RunEvent[], answer: () => Response) => async () => {
  let length = 0
  const startedAt = process.cpuUsage()
  for (let run = 0; run < RUNS / 10; run++) {
    const reader = answer().body?.getReader()
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      length += read.value.byteLength
    }
  }
  return perEvent(startedAt, events, length) * 10
}

/** CPU time: other work on the machine does not count. */
function perEvent(startedAt: NodeJS.CpuUsage, events: readonly RunEvent[], length: number): number {
  if (length === 0) throw new Error('nothing was encoded')
  const { user, system } = process.cpuUsage(startedAt)
  return (user + system) / RUNS / events.length
}

/** A response in the words of an encoder, from events that come one at a time. */
function answerOf(events: readonly RunEvent[], encoder: Encoder): Response {
  let at = 0
  const next = async () => {
    let text = ''
    while (text === '') {
      const event = events[at++]
      if (event === undefined) return undefined
      text = encoder.encode(event)
    }
    return text
  }
  return new Response(sseStream(pulled({ next, cancel() {} })))
}

/** A response of the AI SDK, from its own chunks that come one at a time. */
function answerOfPackage(chunks: readonly UIMessageChunk[]): Response {
  let at = 0
  const stream = new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const chunk = chunks[at++]
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
  })
  return createUIMessageStreamResponse({ stream })
}

/** The messages that an encoder makes, as values. */
function messagesOf<M>(events: readonly RunEvent[], encoder: Encoder): M[] {
  const text = events.map(event => encoder.encode(event)).join('')
  const data = text.split('\n\n').map(message => message.replace(/^(event: .*\n)?data: /, ''))
  return data.flatMap(json => (json === '' || json === '[DONE]' ? [] : [JSON.parse(json)]))
}

async function besideOwn(what: string, events: readonly RunEvent[]): Promise<Comparison[]> {
  const reference = encoding(events, own)
  return [
    await compare(`AI SDK, ${what}`, 'µs', { measured: encoding(events, chat), reference }),
    await compare(`AI SDK, stored, ${what}`, 'µs', { measured: encoding(events, storedChat), reference }),
    await compare(`AG-UI, ${what}`, 'µs', { measured: encoding(events, agUi), reference }),
    await compare(`Chat Completions, ${what}`, 'µs', { measured: encoding(events, completion), reference }),
    await compare(`Messages, ${what}`, 'µs', { measured: encoding(events, anthropicMessage), reference }),
    await compare(`Responses, ${what}`, 'µs', { measured: encoding(events, response), reference }),
    await compare(`Responses, stored, ${what}`, 'µs', {
      measured: encoding(events, storedResponse),
      reference,
    }),
  ]
}

async function besidePackages(what: string, events: readonly RunEvent[]): Promise<Comparison[]> {
  const chunks = messagesOf<UIMessageChunk>(events, chat())
  const told = messagesOf<BaseEvent>(events, agUi())
  const said = messagesOf<object>(events, completion())
  const eventsSaid = messagesOf<{ type: string }>(events, response())
  const encoder = new EventEncoder()
  return [
    await compare(`AI SDK, to the bytes of a response, ${what}`, 'µs', {
      measured: answering(events, () => answerOf(events, chat())),
      reference: answering(events, () => answerOfPackage(chunks)),
    }),
    await compare(`AG-UI, to text, ${what}`, 'µs', {
      measured: encoding(events, agUi),
      reference: writing(events, told, message => encoder.encodeSSE(message)),
    }),
    await compare(`Chat Completions, to text, ${what}`, 'µs', {
      measured: encoding(events, completion),
      reference: writing(events, said, chunk => `data: ${JSON.stringify(chunk)}\n\n`),
    }),
    await compare(`Responses, to text, ${what}`, 'µs', {
      measured: encoding(events, response),
      reference: writing(
        events,
        eventsSaid,
        event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      ),
    }),
  ]
}

console.log('An event, encoded, beside our own server-sent events:\n')
console.log(
  table([...(await besideOwn('text', TEXT)), ...(await besideOwn('all kinds', MIX))], ['encoder', 'our own']),
)
console.log(
  '\nAn event beside the package of the protocol, or `JSON.stringify`, which are given the finished messages:\n',
)
console.log(
  table(
    [...(await besidePackages('text', TEXT)), ...(await besidePackages('all kinds', MIX))],
    ['servable', 'package'],
  ),
)
console.log('\nMCP, calls a CPU-second:\n')
console.log(await besideSdk())
console.log("\nOpenAI's interface, requests a CPU-second of the server:\n")
console.log(await besideOthers())
