/** Random orders of the events of a run, all legal: members at work at once, work inside of work, calls without an end. */
import fc from 'fast-check'
import type { EventFacts, InputRequest, RunEvent } from '../../../src/index.ts'

type Op = keyof typeof DOES

interface Act {
  readonly op: Op
  /** Who does it where, and to which of what is open. */
  readonly who: number
  readonly which: number
  readonly said: string
}

/** How a run ends; `cut` for not at all. */
export const endings = fc.constantFrom(
  'stop',
  'length',
  'cancelled',
  'approval',
  'question',
  'client_tool',
  'several',
  'error',
  'timeout',
  'cut',
)

const NAMES = ['ann', 'ann', 'bob'] as const
const STEPS = ['look', 'look', 'write', 'ann'] as const

interface Call {
  readonly id: string
  readonly name: string
  readonly facts: EventFacts
  args: string
  isReady: boolean
}

interface Step {
  readonly id: string
  readonly name: string
  readonly facts: EventFacts
}

/** What a run has said so far. */
class Body {
  readonly events: RunEvent[] = []
  readonly calls: Call[] = []
  readonly steps: Step[] = []
  readonly results: string[] = []
  text = ''
  thoughts = ''
  #ids = 0

  /** Who may speak where: at the top, or a member in one of the open places. */
  facts(who: number): EventFacts {
    const places = [undefined, ...this.steps.map(({ id }) => id), ...this.calls.map(({ id }) => id)]
    const parentId = places[who % places.length]
    const agent = who % 2 === 0 && parentId === undefined ? undefined : NAMES[who % NAMES.length]
    return { ...(agent && { agent }), ...(parentId && { parentId }) }
  }

  id(name: string): string {
    return `${name}-${++this.#ids}`
  }

  say(event: RunEvent): void {
    this.events.push(event)
  }

  ready(call: Call): void {
    if (call.isReady) return
    call.isReady = true
    this.say({ type: 'tool_call_ready', toolCallId: call.id, args: call.args === '' ? { a: 1 } : call.args })
  }

  /** All text comes again in other pieces, and what has no end begins again, or never does. */
  resume(which: number): void {
    this.say({ type: 'resumed' })
    const middle = which % (this.text.length + 1)
    for (const text of [this.text.slice(0, middle), this.text.slice(middle)]) this.say({ type: 'text', text })
    for (const step of this.steps) {
      this.say({ type: 'step', id: step.id, name: step.name, status: 'started', ...step.facts })
    }
    if (which % 2 === 0) return
    for (const call of this.calls) {
      const { id, name, args } = call
      this.say({ type: 'tool_call_start', toolCall: { id, name }, ...call.facts })
      if (args !== '') this.say({ type: 'tool_call_delta', toolCallId: id, argumentsDelta: args })
      if (call.isReady) this.say({ type: 'tool_call_ready', toolCallId: id })
    }
  }
}

/** The one of those that are open. */
function oneOf<T>(items: readonly T[], which: number): T | undefined {
  return items[which % Math.max(1, items.length)]
}

function end(body: Body, which: number, outcome: { result: unknown } | { error: string }): void {
  const call = oneOf(body.calls, which)
  if (call === undefined) return
  body.ready(call)
  body.calls.splice(body.calls.indexOf(call), 1)
  body.results.push(call.id)
  body.say({ type: 'tool_call_end', toolCallId: call.id, ...outcome, ...call.facts })
}

function changeState(body: Body, data: unknown, append: boolean): void {
  body.say({ type: 'artifact', artifactId: 'state', append, parts: [{ type: 'data', data }] })
}

const IMAGE = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const

const DOES = {
  text(body: Body, { who, said }: Act) {
    body.text += said
    body.say({ type: 'text', text: said, ...body.facts(who) })
  },
  thinking(body: Body, { who, said }: Act) {
    body.thoughts += said
    body.say({ type: 'thinking', text: said, ...body.facts(who) })
  },
  message(body: Body, { who, which, said }: Act) {
    body.text += said
    const parts = [{ type: 'text' as const, text: said }, ...(which > 2 ? [IMAGE] : [])]
    body.say({ type: 'message', parts, ...body.facts(who) })
  },
  call(body: Body, { who }: Act) {
    const facts = body.facts(who)
    const begun = { id: body.id('call'), name: 'tool', facts, args: '', isReady: false }
    body.calls.push(begun)
    body.say({ type: 'tool_call_start', toolCall: { id: begun.id, name: begun.name }, ...facts })
  },
  delta(body: Body, { which, said }: Act) {
    const call = oneOf(body.calls, which)
    if (call === undefined || call.isReady) return
    call.args += said
    body.say({ type: 'tool_call_delta', toolCallId: call.id, argumentsDelta: said, ...call.facts })
  },
  ready(body: Body, { which }: Act) {
    const call = oneOf(body.calls, which)
    if (call !== undefined) body.ready(call)
  },
  result: (body: Body, { which, said }: Act) => end(body, which, { result: which > 2 ? said : { said } }),
  failure: (body: Body, { which }: Act) => end(body, which, { error: 'it broke' }),
  step(body: Body, { who, which }: Act) {
    const name = oneOf(STEPS, which) ?? 'look'
    const facts = body.facts(who)
    const begun = { id: body.id(name), name, facts }
    body.steps.push(begun)
    body.say({ type: 'step', id: begun.id, name, status: 'started', ...facts })
  },
  progress(body: Body, { which, said }: Act) {
    const step = oneOf(body.steps, which)
    if (step === undefined) return
    body.say({ type: 'step', id: step.id, name: step.name, status: 'progress', text: said })
  },
  endStep(body: Body, { which }: Act) {
    const step = oneOf(body.steps, which)
    if (step === undefined) return
    body.steps.splice(body.steps.indexOf(step), 1)
    const { id, name, facts } = step
    const ended = which > 3 ? { status: 'failed' as const, error: 'no' } : { status: 'completed' as const }
    body.say({ type: 'step', id, name, ...ended, ...facts })
  },
  artifact(body: Body, { who, which, said }: Act) {
    const parts = [{ type: 'text' as const, text: said }]
    body.say({ type: 'artifact', artifactId: 'report', append: which > 2, parts, ...body.facts(who) })
  },
  state: (body: Body, { said }: Act) => changeState(body, { said }, false),
  change: (body: Body, { which, said }: Act) =>
    changeState(body, which > 3 ? 'no patch' : [{ op: 'add', path: '/said', value: said }], true),
  model: (body: Body) => body.say({ type: 'model_call', model: 'a/b' }),
  resumed: (body: Body, { which }: Act) => body.resume(which),
}

const OPS = Object.keys(DOES) as Op[]

/** What happens in a run before its end. */
export const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.record({
    op: fc.constantFrom('text' as const, 'text' as const, ...OPS),
    who: fc.nat(7),
    which: fc.nat(5),
    said: fc.constantFrom('', 'a', 'bc', 'é\n"', '{"x":', '1}', '\u2028'),
  }),
  { maxLength: 60, size: 'max' },
)

/** A run and what it has said. */
export type Played = Pick<Body, 'events' | 'text' | 'thoughts' | 'results'>

export function played(all: typeof acts extends fc.Arbitrary<infer A> ? A : never, ending: string): Played {
  const body = new Body()
  for (const each of all) DOES[each.op](body, each)
  const end = endOf(ending, body.calls.at(-1)?.id ?? 'none')
  if (end !== undefined) body.say(end)
  return body
}

function endOf(ending: string, toolCallId: string): RunEvent | undefined {
  const approval: InputRequest = {
    id: 'run/approve:tool',
    kind: 'approval',
    toolCallId,
    toolName: 'tool',
    args: null,
    digest: 'd',
  }
  const question: InputRequest = {
    id: 'run/size',
    kind: 'question',
    message: 'Which?',
    schema: true,
    digest: 'd',
  }
  const clientTool: InputRequest = { ...approval, id: 'run/client:tool', kind: 'client_tool' }
  const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 0.5 }
  const asking = (...requests: InputRequest[]): RunEvent => ({
    type: 'finish',
    finishReason: 'input_required',
    requests,
    usage,
  })
  switch (ending) {
    case 'cut':
      return undefined
    case 'error':
      return { type: 'error', error: 'It failed', code: 'agent_failed' }
    case 'timeout':
      return { type: 'error', error: 'Too long', code: 'run_timeout' }
    case 'approval':
      return asking(approval)
    case 'question':
      return asking(question)
    case 'client_tool':
      return asking(clientTool)
    case 'several':
      return asking(approval, question, clientTool)
    case 'cancelled':
    case 'length':
      return { type: 'finish', finishReason: ending }
    default:
      return { type: 'finish', finishReason: 'stop', structured: { a: null }, usage }
  }
}
