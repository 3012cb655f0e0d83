import { Agent, type AgentContext, type RunEvent, ServableError, type Tool, textOf } from '../../src/index.ts'
import { evaluate, MAX_LENGTH, withoutNoise } from './arithmetic.ts'
import { findArithmetic } from './find-arithmetic.ts'
import { usageOf } from './words.ts'

/** Most expressions of one message. */
const MAX_EXPRESSIONS = 50

const calculate: Tool = {
  name: 'calculate',
  description: 'Evaluates an arithmetic expression: + - * / % ^ and parentheses',
  parameters: {
    type: 'object',
    properties: { expression: { type: 'string', maxLength: MAX_LENGTH } },
    required: ['expression'],
  },
  execute: args => withoutNoise(evaluate(expressionOf(args))),
}

/** Finds the arithmetic in a message and evaluates each expression with a call of its `calculate` tool. */
export const calculator: Agent = new Agent({
  name: 'calculator',
  description: 'Evaluates the arithmetic in a message, such as 3*(4+5) - 2^3 or 12% of 50',
  tools: [calculate],
  async *run(input, context) {
    const message = textOf(input)
    const lines: string[] = []
    for await (const event of work(message, context)) {
      if (typeof event !== 'string') yield event
      else yield lines.push(event) === 1 ? event : `\n${event}`
    }
    return { usage: usageOf(message, lines.join('\n')) }
  },
})

/** Yields the tool calls and the lines of the answer. */
async function* work(message: string, context: AgentContext): AsyncGenerator<RunEvent | string> {
  const expressions = findArithmetic(message)
  if (expressions.length === 0) yield 'The message holds no arithmetic, such as 3*(4+5) or 12% of 50.'
  for (const expression of expressions.slice(0, MAX_EXPRESSIONS)) yield yield* answer(expression, context)
  const left = expressions.length - MAX_EXPRESSIONS
  if (left > 0)
    yield `${left} more expressions were left out: ${MAX_EXPRESSIONS} are the most of one message.`
}

async function* answer(expression: string, context: AgentContext): AsyncGenerator<RunEvent, string> {
  try {
    const value = Number(yield* context.callTool('calculate', { expression }))
    // Above 2^53, some whole numbers have no exact representation.
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value)
    return `${expression} ${isExact ? '=' : '≈'} ${value}`
  } catch (error) {
    if (!(error instanceof ServableError)) throw error
    return `${expression} cannot be calculated: ${error.message}`
  }
}

function expressionOf(args: unknown): string {
  if (typeof args === 'object' && args !== null && 'expression' in args) {
    if (typeof args.expression === 'string') return args.expression
  }
  throw new ServableError('invalid_input', '`expression` must be text')
}
