/** A placeholder for your agent: it works without a model. */
import { Agent, type AgentContext, type RunInput, ServableError, textOf, tool, type Yielded } from 'servable'

const refund = tool<{ readonly order: string }, string>({
  name: 'refund',
  needsApproval: true,
  execute: ({ order }) => `Refunded ${order}.`,
})

type Talk = (rest: string, context: AgentContext) => AsyncGenerator<Yielded>

/** What it does, by the first word of a message. */
const TALKS: Readonly<Record<string, Talk>> = {
  async *refund(order, { callTool }) {
    try {
      yield yield* callTool(refund, { order })
    } catch (error) {
      if (!(error instanceof ServableError) || error.code !== 'approval_denied') throw error
      yield 'Not refunded.'
    }
  },
  async *shirt(_, { ask }) {
    const size = yield* ask('size', { message: 'Which size?', schema: { enum: ['S', 'M', 'L'] } })
    const name = yield* ask('name', { message: 'Which name is on it?', schema: { type: 'string' } })
    yield `A shirt in ${size} for ${name}.`
  },
  async *count(most, { sleep }) {
    for (let n = 1; n <= Math.min(Number(most), 100); n++) {
      yield `${n} `
      yield* sleep('a moment', 100)
    }
    yield 'Done.'
  },
  async *fail() {
    yield ''
    throw new Error('What went wrong is in the log of the service')
  },
}

/** Gives files back, and says what was said before. */
async function* echo(input: RunInput, before: readonly unknown[]): AsyncGenerator<Yielded> {
  for (const [index, part] of (typeof input === 'string' ? [] : input).entries()) {
    if (part.type !== 'file' && part.type !== 'image') continue
    yield `I have your file (${part.mimeType}), and give it back. `
    yield { type: 'artifact', artifactId: `file-${index}`, parts: [part] }
  }
  yield `You said: ${[...before, textOf(input).trim()].join(', ')}`
}

export const desk: Agent = new Agent({
  name: 'desk',
  // A run goes on in another process if this one dies.
  resume: true,
  tools: [refund],
  async *run(input, context) {
    const text = textOf(input).trim()
    const [word = '', rest = ''] = text.split(' ')
    const session = context.memory?.session(desk)
    const talk = Object.hasOwn(TALKS, word) ? TALKS[word] : undefined
    if (talk === undefined) yield* echo(input, (await session?.read()) ?? [])
    else yield* talk(rest, context)
    await session?.append([text])
  },
})
