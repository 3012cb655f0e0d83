/** The agents that clients of OpenAI's interface ask as models: each does one thing that such a client tells. None needs a model. */
import {
  Agent,
  type ContentPart,
  type RunEvent,
  type RunInput,
  type RunOptions,
  requestOf,
  type ServableAgent,
  textOf,
} from '../../../src/index.ts'
import { agent, called, looks, payingAgents, thinks } from '../protocol-agents.ts'

const says = agent('says', async function* (input) {
  yield 'Hello, '
  yield `${textOf(input)}!`
  return { usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7 } }
})

/** Says what the parts of its input are. */
const sees = agent('sees', input => {
  const parts: readonly ContentPart[] = typeof input === 'string' ? [{ type: 'text', text: input }] : input
  return parts.map(seen).join(', ')
})

function seen(part: ContentPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'data') return 'data'
  return [part.type, part.mimeType, part.data].filter(said => said !== undefined).join(' ')
}

const weighs = new Agent({
  name: 'weighs',
  register: false,
  output: {
    type: 'object',
    properties: { grams: { type: 'number' } },
    required: ['grams'],
    additionalProperties: false,
  },
  run: async () => ({ text: 'Weighed.', structured: { grams: 12 } }),
})

/** What is told of a run, under the text of its input. */
const notes = new Map<string, string>()

const tells = agent('tells', input => notes.get(textOf(input)) ?? 'nothing')

const count = (name: string) => notes.set(name, String(Number(notes.get(name) ?? 0) + 1))

const refuses = agent('refuses', input => {
  count(textOf(input))
  throw new Error('a secret of the server')
})

const breaks = agent('breaks', function* (input) {
  count(textOf(input))
  yield 'Half of '
  throw new Error('a secret of the server')
})

/** Waits until its signal fires. */
const waits = agent('waits', async function* (input, { signal }) {
  const name = textOf(input)
  notes.set(name, 'started')
  yield 'I wait. '
  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve))
  notes.set(name, 'stopped')
})

/** Gates are opened by name. */
const gates = new Set<string>()
async function opened(gate: string, signal: AbortSignal): Promise<void> {
  notes.set(gate, 'started')
  while (!gates.has(gate) && !signal.aborted) await new Promise(resolve => setTimeout(resolve, 10))
  if (signal.aborted) notes.set(gate, 'stopped')
}

/** Says a word, waits for the gate of its input in the middle of a call, and says the rest. */
const gated = agent('gated', async function* (input, { signal }) {
  yield { type: 'thinking', text: 'Hm.' }
  yield 'First '
  yield* called('call-1', 'weather', ['{"place":"Rome"}'])
  await opened(textOf(input), signal)
  yield { type: 'tool_call_end', toolCallId: 'call-1', result: 'sunny' }
  yield 'and last.'
})

const opens = agent('opens', input => {
  gates.add(textOf(input))
})

/** Says who has said what before, and what is said now. */
const remembers = agent('remembers', async (input, { memory, history = [] }) => {
  const turns = (await memory?.session()?.read()) ?? []
  const before = [...turns, ...history].map(message => {
    const { role, content = '' } = message as { role: string; content?: RunInput }
    return `${role} ${textOf(content)}`
  })
  return `${before.join(', ')} > ${textOf(input)}`
})

/** The texts of who has said something before: of users, or of assistants. */
function textsOf(history: RunOptions['history'] = [], of: 'user' | 'assistant'): string {
  return history
    .map(({ role, ...said }) => ('content' in said && role === of ? textOf(said.content ?? '') : ''))
    .join('')
}

/** Thinks, and calls a tool of its own. Then it says what is said now and before. */
const mulls = agent('mulls', function* (input, { history }) {
  yield { type: 'thinking', text: 'Hm.' }
  yield 'I look. '
  yield* called('call-1', 'weather', ['{"place":"Rome"}'])
  yield { type: 'tool_call_end', toolCallId: 'call-1', result: 'sunny' }
  const [users, assistants] = [textsOf(history, 'user'), textsOf(history, 'assistant')]
  yield `${textOf(input)} after ${users === '' ? '' : `${users}, ${assistants}`}`
})

const { pays, paid } = payingAgents()

const asks = agent('asks', async function* (_, { ask }) {
  yield 'A shirt. '
  const size = yield* ask('size', { message: 'Which size?', schema: { type: 'string' } })
  yield `It is ${size}.`
})

/** Calls the first tool of the client for each word of its input, and says what the client gave. */
const paints: ServableAgent = {
  kind: 'agent',
  name: 'paints',
  run: () => Promise.reject(new Error('it streams')),
  stream: paint,
}

async function* paint(input: RunInput, options: RunOptions = {}): AsyncGenerator<RunEvent> {
  const { clientTools = [], answers = [], runId } = options
  const [offered] = clientTools
  if (offered === undefined) return void (yield { type: 'text', text: 'Nobody offers a tool.' })
  const calls = textOf(input)
    .split(' ')
    .map((of, at) => ({ id: `paint-${at}`, at: `client_tool:${of}`, args: { of } }))
  const answerTo = ({ at }: { at: string }) => answers.find(({ id }) => id.endsWith(`/${at}`))
  const isAnswered = answers.length > 0
  if (!isAnswered) yield { type: 'text', text: 'I paint. ' }
  for (const { id, args } of calls) yield* called(id, offered.name, ['{"of":', `"${args.of}"}`])
  if (!isAnswered) {
    const requests = calls.map(({ id, at, args }) =>
      requestOf({
        id: `${runId}/${at}`,
        kind: 'client_tool',
        toolCallId: id,
        toolName: offered.name,
        args,
      }),
    )
    const finishReason = 'input_required'
    return void (yield { type: 'finish', finishReason, requests: await Promise.all(requests) })
  }
  const results: unknown[] = []
  for (const call of calls) {
    const answer = answerTo(call)
    const result = answer && 'result' in answer ? answer.result : undefined
    results.push(result)
    yield { type: 'tool_call_end', toolCallId: call.id, result }
  }
  yield { type: 'text', text: `Painted ${results.join(', ')}.` }
  yield { type: 'finish', finishReason: 'stop' }
}

export const agents: Readonly<Record<string, ServableAgent>> = {
  says,
  thinks,
  looks,
  sees,
  weighs,
  tells,
  refuses,
  breaks,
  waits,
  gated,
  opens,
  remembers,
  mulls,
  pays,
  paid,
  asks,
  paints,
}
