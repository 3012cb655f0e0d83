import { Agent, ServableError, type Tool, textOf } from '../../src/index.ts'
import { usageOf } from './words.ts'

const sew: Tool<{ readonly item: string; readonly size: string }, string> = {
  name: 'sew',
  description: 'Sews a piece of clothing; silk and gold need an approval',
  parameters: {
    type: 'object',
    properties: { item: { type: 'string' }, size: { type: 'string' } },
    required: ['item', 'size'],
  },
  needsApproval: ({ item }) => /\b(silk|gold)/i.test(item),
  editable: true,
  execute: ({ item, size }) => `${item} in ${size}`,
}

/** Asks for the size of a piece of clothing, and has its costly ones approved. */
export const tailor: Agent = new Agent({
  name: 'tailor',
  description: 'Asks which size, and for an approval of silk and gold',
  tools: [sew as Tool],
  async *run(input, { ask, callTool }) {
    const item = textOf(input)
    yield 'Let me see. '
    const size = String(
      yield* ask('size', {
        message: 'Which size: S, M or L?',
        schema: { type: 'string', enum: ['S', 'M', 'L'] },
      }),
    )
    const said = yield* sewn(callTool(sew, { item, size }))
    yield said
    return { usage: usageOf(item, said) }
  },
})

/** What the tailor says of the work. */
async function* sewn<E>(work: AsyncGenerator<E, string>): AsyncGenerator<E, string> {
  try {
    return yield* work
  } catch (error) {
    if (!(error instanceof ServableError) || error.code !== 'approval_denied') throw error
    return `Nothing is sewn. ${error.message}.`
  }
}
