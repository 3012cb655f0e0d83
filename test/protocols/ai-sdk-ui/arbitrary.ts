/** Runs as servables may tell them: several speak at once, calls, steps and files come between what they say. */
import fc from 'fast-check'
import type { ArtifactEvent, RunEvent } from '../../../src/index.ts'
import { ToolArgs } from '../../../src/runs/tool-args.ts'

/** The events of one speaker, in their order. */
type Lane = readonly RunEvent[]

const SOURCES = [{}, { agent: 'left', parentId: 'left' }, { agent: 'right', parentId: 'right' }] as const

const word = (kind: 'text' | 'thinking') =>
  fc
    .oneof({ weight: 9, arbitrary: fc.constant('~') }, { weight: 1, arbitrary: fc.constant('') })
    .map((text): RunEvent[] => [{ type: kind, text }])

const args = fc.constantFrom(['{}'], ['{"a"', ':1}'], ['', '{"b":"é"}', ''], ['no json'], [])

type End = Pick<Extract<RunEvent, { type: 'tool_call_end' }>, 'result' | 'error' | 'code'>

const ends = fc.constantFrom<End | undefined>(
  { result: { n: 1 } },
  { result: null },
  {},
  { error: 'failed' },
  { error: 'denied', code: 'approval_denied' },
  undefined,
)

/** One call, with what is said while it is made and while it is at work. */
const call = (inner: fc.Arbitrary<RunEvent[]>) =>
  fc
    .record({
      id: fc.constantFrom('a', 'b'),
      pieces: args,
      isReady: fc.boolean(),
      end: ends,
      during: inner,
      inner,
    })
    .map(({ id: toolCallId, pieces, isReady, end, during, inner: within }): RunEvent[] => [
      { type: 'tool_call_start', toolCall: { id: toolCallId, name: `tool ${toolCallId}` } },
      ...pieces.map((argumentsDelta): RunEvent => ({ type: 'tool_call_delta', toolCallId, argumentsDelta })),
      ...during,
      ...(isReady ? [{ type: 'tool_call_ready', toolCallId, args: { a: 1 } } as const] : []),
      ...within,
      ...(end === undefined ? [] : [{ type: 'tool_call_end', toolCallId, ...end } as const]),
    ])

const step = (inner: fc.Arbitrary<RunEvent[]>) =>
  fc
    .record({
      name: fc.constantFrom('one', 'two'),
      status: fc.constantFrom('completed', 'failed', undefined),
      inner,
    })
    .map(({ name, status, inner: within }): RunEvent[] => [
      { type: 'step', id: name, name, status: 'started', index: 0 },
      { type: 'step', id: name, name, status: 'progress', text: 'on it' },
      ...within,
      ...(status === undefined ? [] : [{ type: 'step', id: name, name, status, durationMs: 3 } as const]),
    ])

const IMAGE = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const

const chunk = fc.constantFrom<ArtifactEvent['parts']>(
  [{ type: 'text', text: 'piece ' }],
  [{ type: 'text', text: 'long '.repeat(80) }],
  [{ type: 'data', data: { n: 1 } }],
  [{ type: 'text', text: 'and ' }, IMAGE],
  [],
)

const artifact = fc
  .record({
    id: fc.constantFrom('f', 'g'),
    chunks: fc.array(chunk, { minLength: 1, maxLength: 4 }),
    isClosed: fc.boolean(),
  })
  .map(({ id: artifactId, chunks, isClosed }): RunEvent[] =>
    chunks.map((parts, at) => ({
      type: 'artifact',
      artifactId,
      parts,
      ...(at > 0 && { append: true }),
      ...(at === 0 && { name: `${artifactId}.txt` }),
      ...(isClosed && at > 0 && at === chunks.length - 1 && { lastChunk: true }),
    })),
  )

const others = fc.constantFrom<RunEvent[]>(
  [{ type: 'message', parts: [{ type: 'text', text: 'A message.' }, IMAGE] }],
  [{ type: 'message', parts: [{ type: 'data', data: [1] }] }],
  [{ type: 'model_call', model: 'acme/one', durationMs: 3 }],
  // Of calls that nobody has begun.
  [{ type: 'tool_call_delta', toolCallId: 'none', argumentsDelta: '{' }],
  [{ type: 'tool_call_ready', toolCallId: 'none', args: {} }],
  [{ type: 'tool_call_end', toolCallId: 'none', result: 1 }],
)

const said = fc.oneof(word('text'), word('thinking'))

const act: fc.Arbitrary<RunEvent[]> = fc.oneof(
  { weight: 6, arbitrary: said },
  { weight: 4, arbitrary: call(fc.oneof(said, fc.constant<RunEvent[]>([]))) },
  { weight: 2, arbitrary: step(said) },
  { weight: 2, arbitrary: artifact },
  { weight: 1, arbitrary: others },
)

/** Gives each speaker calls, steps and files of its own. */
function ofLane(acts: readonly RunEvent[][], lane: number): Lane {
  const own = (id: string) => `${lane}${id}`
  return acts.flat().map(event => {
    const source = SOURCES[lane % SOURCES.length]
    switch (event.type) {
      case 'tool_call_start':
        return { ...event, ...source, toolCall: { ...event.toolCall, id: own(event.toolCall.id) } }
      case 'tool_call_delta':
      case 'tool_call_ready':
      case 'tool_call_end':
        return { ...event, ...source, toolCallId: own(event.toolCallId) }
      case 'step':
        return { ...event, ...source, id: own(event.name) }
      case 'artifact':
        return { ...event, ...source, artifactId: own(event.artifactId) }
      default:
        return { ...event, ...source }
    }
  })
}

/** Lanes as one list: `order` says whose turn it is. */
function merged(lanes: readonly Lane[], order: readonly number[]): RunEvent[] {
  const queues = lanes.map(lane => [...lane])
  const all: RunEvent[] = []
  for (let turn = 0; queues.some(queue => queue.length > 0); turn++) {
    const open = queues.filter(queue => queue.length > 0)
    const event = open[(order[turn % order.length] ?? 0) % open.length]?.shift()
    if (event !== undefined) all.push(event)
  }
  return all
}

/** What is said can be told from all else that is said. */
function numbered(events: readonly RunEvent[]): RunEvent[] {
  return events.map((event, at) => {
    const isSaid = event.type === 'text' || event.type === 'thinking'
    return isSaid && event.text !== '' ? { ...event, text: `<${at}>` } : event
  })
}

/** As the pipeline tells them: a call is ready before its end. */
function withReady(events: readonly RunEvent[]): RunEvent[] {
  const seen = new ToolArgs(10_000)
  return events.flatMap(event => {
    if (!event.type.startsWith('tool_call_')) return [event]
    const call = event as Parameters<ToolArgs['see']>[0]
    const told = seen.see(call)
    if (told === undefined) return []
    return told === call ? [told] : [told, call]
  })
}

/** The events of a run, without its end. */
export const runs: fc.Arbitrary<RunEvent[]> = fc
  .record({
    lanes: fc.array(fc.array(act, { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
    order: fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }),
  })
  .map(({ lanes, order }) => withReady(numbered(merged(lanes.map(ofLane), order))))

/** How a run may end. */
export const endings: fc.Arbitrary<RunEvent> = fc.constantFrom<RunEvent>(
  { type: 'finish', finishReason: 'stop' },
  {
    type: 'finish',
    finishReason: 'length',
    usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 0.5 },
    structured: { a: 1 },
  },
  { type: 'finish', finishReason: 'tool_calls' },
  { type: 'finish', finishReason: 'content_filter' },
  { type: 'finish', finishReason: 'auth_required' },
  { type: 'finish', finishReason: 'rejected', structured: null },
  {
    type: 'finish',
    finishReason: 'input_required',
    requests: [
      { id: 'r/size', kind: 'question', message: 'Which size?', schema: { type: 'string' }, digest: 'd' },
      { id: 'r/tool', kind: 'client_tool', toolCallId: 'own', toolName: 'pick', args: {}, digest: 'd' },
    ],
  },
  { type: 'finish', finishReason: 'cancelled' },
  { type: 'error', code: 'run_timeout', error: 'The run took too long' },
  { type: 'error', code: 'agent_failed', error: 'Internal server error' },
)

/** A run that died after so many events, as it goes on: it tells its text again, and what was not complete. */
export function goingOn(events: readonly RunEvent[], at: number): RunEvent[] {
  const complete = completeIn(events.slice(0, at))
  return [...events.slice(0, at), { type: 'resumed' }, ...events.filter(event => !complete.has(event))]
}

/** The events of calls, steps and files that have ended. */
function completeIn(events: readonly RunEvent[]): Set<RunEvent> {
  const open = new Map<string, RunEvent[]>()
  const complete = new Set<RunEvent>()
  for (const event of events) {
    const key = keyOf(event)
    if (key === undefined) continue
    const gathered = [...(open.get(key) ?? []), event]
    open.set(key, gathered)
    if (isEnd(event)) for (const each of gathered) complete.add(each)
  }
  return complete
}

/** Of what an event tells a part. */
function keyOf(event: RunEvent): string | undefined {
  if (event.type === 'artifact') return `artifact ${event.artifactId}`
  if (event.type === 'step') return `step ${event.id}`
  if (event.type === 'tool_call_start') return `call ${event.toolCall.id}`
  return 'toolCallId' in event ? `call ${event.toolCallId}` : undefined
}

function isEnd(event: RunEvent): boolean {
  if (event.type === 'artifact') return event.lastChunk === true
  if (event.type === 'step') return event.status === 'completed' || event.status === 'failed'
  return event.type === 'tool_call_end'
}
