/** Runs that say anything: members speak at once, calls of the server and of the client overlap, a crash comes anywhere. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { EventFacts, InputRequest, RunEvent } from '../../../src/index.ts'

export const RUN_ID = '0190a1b2-c3d4-4e5f-8a9b-0123456789ab'

/** Who speaks, and letters that nobody else uses: what each has said is found in whatever is told. */
const LANES = [
  { letters: ['a', 'bc', 'é\n"', ''], facts: {} },
  { letters: ['k', 'lm', '\u2028\\', ''], facts: { agent: 'ann', parentId: 'ann' } },
  { letters: ['x', 'yz', '😀', ''], facts: { agent: 'bob', parentId: 'bob' } },
] as const

interface Call {
  readonly id: string
  readonly facts: EventFacts
  readonly isOfClient: boolean
  args: string
  isReady: boolean
}

interface Act {
  readonly op: keyof typeof DOES
  readonly lane: number
  readonly which: number
  readonly said: string
}

/** How a run ends. */
export const endings = fc.constantFrom(
  ...(['stop', 'length', 'tool_calls', 'rejected', 'cancelled', 'approval', 'question'] as const),
  ...(['client_tool', 'several', 'error', 'timeout'] as const),
)

export type Ending = typeof endings extends fc.Arbitrary<infer E> ? E : never

/** What a run has said. */
export class Body {
  readonly events: RunEvent[] = []
  readonly text: string[] = LANES.map(() => '')
  readonly thoughts: string[] = LANES.map(() => '')
  /** Ended calls of the server, in their order. */
  readonly ended: string[] = []
  readonly calls: Call[] = []
  hasResumed = false
  #ids = 0

  begin(isOfClient: boolean, facts: EventFacts): void {
    const call = { id: `call-${++this.#ids}`, facts, isOfClient, args: '', isReady: false }
    this.calls.push(call)
    this.start(call)
  }

  start({ id, facts, isOfClient }: Call): void {
    const toolCall = { id, name: isOfClient ? 'theirs' : 'ours' }
    this.events.push({
      type: 'tool_call_start',
      toolCall,
      ...(isOfClient && { isClientTool: true }),
      ...facts,
    })
  }

  open(which: number, isOfClient?: boolean): Call | undefined {
    const open = this.calls.filter(call => isOfClient === undefined || call.isOfClient === isOfClient)
    return open[which % Math.max(1, open.length)]
  }

  ready(call: Call): void {
    if (call.isReady) return
    call.isReady = true
    this.events.push({ type: 'tool_call_ready', toolCallId: call.id, args: argsOf(call), ...call.facts })
  }

  end(which: number, outcome: { result: unknown } | { error: string }): void {
    const call = this.open(which, false)
    if (call === undefined) return
    this.ready(call)
    this.calls.splice(this.calls.indexOf(call), 1)
    this.ended.push(call.id)
    this.events.push({ type: 'tool_call_end', toolCallId: call.id, ...outcome, ...call.facts })
  }

  /** All text comes again, in other pieces; what has no end begins again. */
  resume(which: number): void {
    this.hasResumed = true
    this.events.push({ type: 'resumed' })
    for (const [at, { facts }] of LANES.entries()) {
      for (const text of piecesOf(this.text[at] ?? '', which))
        this.events.push({ type: 'text', text, ...facts })
      const thoughts = piecesOf(this.thoughts[at] ?? '', which)
      for (const text of thoughts) this.events.push({ type: 'thinking', text, ...facts })
    }
    for (const call of this.calls) {
      this.start(call)
      if (call.args !== '')
        this.events.push({ type: 'tool_call_delta', toolCallId: call.id, argumentsDelta: call.args })
      if (call.isReady) this.events.push({ type: 'tool_call_ready', toolCallId: call.id, args: argsOf(call) })
    }
  }
}

function piecesOf(text: string, which: number): string[] {
  const middle = which % (text.length + 1)
  return [text.slice(0, middle), text.slice(middle)]
}

function argsOf({ args }: Call): unknown {
  return args === '' ? {} : args
}

const IMAGE = { type: 'image', data: 'https://h.example/i.png', mimeType: 'image/png' } as const
const BYTES = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const

const DOES = {
  text(body: Body, { lane, said }: Act) {
    body.text[lane] += said
    body.events.push({ type: 'text', text: said, ...LANES[lane]?.facts })
  },
  thinking(body: Body, { lane, said }: Act) {
    body.thoughts[lane] += said
    body.events.push({ type: 'thinking', text: said, ...LANES[lane]?.facts })
  },
  message(body: Body, { lane, said, which }: Act) {
    body.text[lane] += said
    const parts = [{ type: 'text' as const, text: said }, ...(which > 2 ? [BYTES] : [])]
    body.events.push({ type: 'message', parts, ...LANES[lane]?.facts })
  },
  call: (body: Body, { lane }: Act) => body.begin(false, { ...LANES[lane]?.facts }),
  clientCall: (body: Body) => body.begin(true, {}),
  delta(body: Body, { which, said }: Act) {
    const call = body.open(which)
    if (call === undefined || call.isReady) return
    call.args += said
    body.events.push({ type: 'tool_call_delta', toolCallId: call.id, argumentsDelta: said, ...call.facts })
  },
  ready(body: Body, { which }: Act) {
    const call = body.open(which)
    if (call !== undefined) body.ready(call)
  },
  result: (body: Body, { which, said }: Act) => body.end(which, { result: which > 2 ? said : { said } }),
  nothing: (body: Body, { which }: Act) => body.end(which, { result: undefined }),
  failure: (body: Body, { which }: Act) => body.end(which, { error: 'it broke' }),
  step(body: Body, { said }: Act) {
    body.events.push({ type: 'step', id: 'look', name: 'look', status: 'started' })
    body.events.push({ type: 'step', id: 'look', name: 'look', status: 'progress', text: said })
  },
  artifact: (body: Body) => body.events.push({ type: 'artifact', artifactId: 'f', parts: [IMAGE] }),
  model: (body: Body) => body.events.push({ type: 'model_call', model: 'a/b' }),
  unknown(body: Body) {
    body.events.push({ type: 'tool_call_delta', toolCallId: 'nobody', argumentsDelta: '{' })
    body.events.push({ type: 'tool_call_ready', toolCallId: 'nobody', args: {} })
    body.events.push({ type: 'tool_call_end', toolCallId: 'nobody', result: 1 })
  },
  resumed: (body: Body, { which }: Act) => body.resume(which),
}

const OPS = Object.keys(DOES) as Act['op'][]

/** What happens in a run before its end. */
export const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.nat(LANES.length - 1).chain(lane =>
    fc.record({
      op: fc.constantFrom('text' as const, 'text' as const, ...OPS),
      lane: fc.constant(lane),
      which: fc.nat(7),
      said: fc.constantFrom(...LANES[lane as 0 | 1 | 2].letters),
    }),
  ),
  { maxLength: 40, size: 'max' },
)

/** The requests that a run may end with, of a call of each kind. */
const approval: InputRequest = {
  id: `${RUN_ID}/approve:pay`,
  kind: 'approval',
  toolCallId: 'approved-call',
  toolName: 'pay',
  args: { amount: 5 },
  digest: 'd',
}
const question: InputRequest = {
  id: `${RUN_ID}/size`,
  kind: 'question',
  message: 'Which?',
  schema: true,
  digest: 'd',
}
const clientTool: InputRequest = {
  id: `${RUN_ID}/client:theirs`,
  kind: 'client_tool',
  toolCallId: 'late-call',
  toolName: 'theirs',
  args: { hue: 'warm' },
  digest: 'd',
}

export const REQUESTS: Readonly<Partial<Record<Ending, readonly InputRequest[]>>> = {
  approval: [approval],
  question: [question],
  client_tool: [clientTool],
  several: [approval, question, clientTool],
}

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }

function endOf(ending: Ending): RunEvent {
  const requests = REQUESTS[ending]
  if (requests !== undefined)
    return { type: 'finish', finishReason: 'input_required', requests, usage, at: 9 }
  switch (ending) {
    case 'error':
      return { type: 'error', error: 'It failed', code: 'agent_failed', at: 9 }
    case 'timeout':
      return { type: 'error', error: 'Too long', code: 'run_timeout', at: 9 }
    case 'stop':
      return { type: 'finish', finishReason: ending, structured: { a: null }, usage, at: 9 }
    default:
      return { type: 'finish', finishReason: ending as 'length', usage, at: 9 }
  }
}

/** What a run says. Only a stored one is resumed. */
export function played(all: readonly Act[], ending: Ending, isStored: boolean): Body {
  const body = new Body()
  for (const act of all) if (isStored || act.op !== 'resumed') DOES[act.op](body, act)
  body.events.push(endOf(ending))
  return body
}

/** What of a text is of one who speaks. */
function partOf(lane: number, text: string): string {
  const own = new Set(LANES[lane]?.letters.join(''))
  return [...text].filter(letter => own.has(letter)).join('')
}

/** Throws where what somebody said is not in what was told, in its order. What is asked, and the output, may come after it. */
export function expectSaid(told: string, said: readonly string[], ending: Ending): void {
  const isAlone = ending !== 'stop' && REQUESTS[ending] === undefined
  for (const [lane, text] of said.entries()) {
    const own = partOf(lane, text)
    const found = partOf(lane, told)
    expect(isAlone ? found : found.slice(0, own.length)).toBe(own)
  }
}

/** The data of a stream's messages, and whether it ends as a whole one does. */
export function dataIn(stream: string): { readonly data: string[]; readonly isDone: boolean } {
  // U+2028 ends no line of a stream.
  const data = stream.split('\n').flatMap(line => (line.startsWith('data: ') ? line.slice(6) : []))
  const isDone = data.at(-1) === '[DONE]'
  return { data: isDone ? data.slice(0, -1) : data, isDone }
}
