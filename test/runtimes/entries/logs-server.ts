// What the servers of Node, Bun and Deno serve: nothing is said of the log.
import { Agent, createHandler, type Handler } from '../../../src/index.ts'

const usage = { promptTokens: 3, completionTokens: 5, totalTokens: 8, cost: 0.0125 }

const echo = new Agent({
  name: 'echo',
  register: false,
  async *run(input) {
    yield String(input)
    yield { type: 'finish', finishReason: 'stop', usage }
  },
})

export const handler: Handler = createHandler({ agents: { echo }, registry: false })
