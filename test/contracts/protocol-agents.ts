/** Agents of the contracts of protocols: each does one thing that clients of several protocols are told. None needs a model. */
import { Agent, type RunEvent, type Tool, textOf, tool, type Yielded } from '../../src/index.ts'

export type Body = ConstructorParameters<typeof Agent>[0]['run']

export const agent = (name: string, run: Body, tools: Tool[] = []): Agent =>
  new Agent({ name, register: false, run, tools })

export const thinks: Agent = agent('thinks', function* () {
  yield { type: 'thinking', text: 'Let me ' }
  yield { type: 'thinking', text: 'see.' }
  yield 'Here '
  yield 'it is.'
})

/** A call whose arguments come in pieces, while nothing else is said. */
export function* called(id: string, name: string, pieces: readonly string[]): Generator<RunEvent> {
  yield { type: 'tool_call_start', toolCall: { id, name } }
  for (const argumentsDelta of pieces) yield { type: 'tool_call_delta', toolCallId: id, argumentsDelta }
}

/** Calls tools of its own, of which one fails. */
export const looks: Agent = agent('looks', function* () {
  yield 'I look. '
  yield* called('call-1', 'weather', ['{"place":', '"Rome"}'])
  yield { type: 'tool_call_end', toolCallId: 'call-1', result: { degrees: 21 } }
  yield* called('call-2', 'weather', ['{"place":"Mars"}'])
  yield { type: 'tool_call_end', toolCallId: 'call-2', error: 'Too far', code: 'invalid_input' }
  yield '21 degrees.'
})

/** Pays each amount in the input with a tool, all at once: each payment needs an approval. */
export const paying = (pay: Tool): Agent =>
  agent(
    'pays',
    async function* (input, { callTool, parallel }) {
      const payment = async function* (amount: number): AsyncGenerator<Yielded, string> {
        try {
          return String(yield* callTool(pay, { amount }))
        } catch (error) {
          return `not paid: ${(error as Error).message}`
        }
      }
      yield 'I pay. '
      const done = yield* parallel(textOf(input).split(' ').map(Number).map(payment))
      yield done.join(', ')
    },
    [pay],
  )

/** A tool that pays an amount once somebody has approved it. `onPaid` is told of each payment. */
export const payTool = (onPaid: (amount: number) => void): Tool =>
  tool({
    name: 'pay',
    parameters: { type: 'object', properties: { amount: { type: 'number' } } },
    needsApproval: true,
    execute(args) {
      const { amount } = args as { readonly amount: number }
      onPaid(amount)
      return `paid ${amount}`
    },
  })

/** An agent that pays, and one that says how often an amount was paid. */
export function payingAgents(): { readonly pay: Tool; readonly pays: Agent; readonly paid: Agent } {
  const payments = new Map<number, number>()
  const pay = payTool(amount => payments.set(amount, (payments.get(amount) ?? 0) + 1))
  const paid = agent('paid', input => String(payments.get(Number(textOf(input))) ?? 0))
  return { pay, pays: paying(pay), paid }
}
