/** A placeholder for your agent: it works without a model. */
import { Agent, type RunInput, ServableError, textOf, tool } from 'servable'

const refund = tool<{ readonly order: string }, string>({
  name: 'refund',
  needsApproval: true,
  execute: ({ order }) => `Refunded ${order}.`,
})

/** Refunds an order once somebody approves, asks for a shirt, counts, fails, gives files back, and remembers what was said. */
export const desk: Agent = new Agent({
  name: 'desk',
  resume: true,
  tools: [refund],
  async *run(input, { ask, callTool, memory, sleep }) {
    const text = textOf(input).trim()
    const [word = '', rest = ''] = text.split(' ')
    const session = memory?.session(desk)
    if (word === 'refund') {
      try {
        yield yield* callTool(refund, { order: rest })
      } catch (error) {
        if (!(error instanceof ServableError) || error.code !== 'approval_denied') throw error
        yield 'Not refunded.'
      }
    } else if (word === 'shirt') {
      const size = yield* ask('size', { message: 'Which size?', schema: { enum: ['S', 'M', 'L'] } })
      const name = yield* ask('name', { message: 'Which name is on it?', schema: { type: 'string' } })
      yield `A shirt in ${size} for ${name}.`
    } else if (word === 'fail') {
      throw new Error('What went wrong is in the log of the service')
    } else if (word === 'count') {
      for (let n = 1; n <= Number(rest); n++) {
        yield `${n} `
        yield* sleep('a moment', 100)
      }
      yield 'Done.'
    } else {
      for (const [index, part] of filesIn(input).entries()) {
        yield `I have your file (${part.mimeType}), and give it back. `
        yield { type: 'artifact', artifactId: `file-${index}`, parts: [part] }
      }
      const before = ((await session?.read()) ?? []).map(String)
      yield `You said: ${[...before, text].join(', ')}`
    }
    await session?.append([text])
  },
})

function filesIn(input: RunInput) {
  if (typeof input === 'string') return []
  return input.flatMap(part => (part.type === 'file' || part.type === 'image' ? [part] : []))
}
