/** Servable's own server, with one agent that does what it is asked. */
import { Agent, type AgentContext, createHandler, type RunInput, textOf, tool } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { DATA, doingOf, FILE, waits } from './doings.ts'
import { held } from './holds.ts'

const refund = tool({
  name: 'refund',
  parameters: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  needsApproval: true,
  editable: true,
  execute: args => `refunded ${(args as { amount: number }).amount}`,
})

async function* run(input: RunInput, context: AgentContext) {
  const { what, rest } = doingOf(textOf(input))
  const { metadata = {}, signal } = context
  switch (what) {
    case 'words':
      for (const word of rest.split(' ')) {
        yield `${word} `
        await new Promise(resolve => setTimeout(resolve, 2))
      }
      return
    case 'makes':
      yield {
        type: 'artifact',
        artifactId: 'picture',
        name: 'p',
        parts: [{ type: 'image', ...FILE }],
      } as const
      yield { type: 'artifact', artifactId: 'facts', parts: [{ type: 'data', data: DATA }] } as const
      return
    case 'message':
      yield { type: 'message', parts: [{ type: 'text', text: rest }] } as const
      return
    case 'steps':
      yield { type: 'step', name: 'search', status: 'started' } as const
      yield { type: 'step', name: 'search', status: 'completed', durationMs: 1 } as const
      yield 'found'
      return
    case 'asks':
      yield `so ${yield* context.ask('which', { message: 'Which one?' })}`
      return
    case 'approves':
      yield String(yield* context.callTool('refund', { amount: 5 }))
      return
    case 'fails':
      throw new Error(rest)
    case 'rejects':
      yield rest
      return { finishReason: 'rejected' as const }
    case 'auth':
      yield rest
      return { finishReason: 'auth_required' as const }
    case 'waits':
      waits.set(rest, false)
      signal.addEventListener('abort', () => waits.set(rest, true))
      yield 'waiting'
      return await new Promise<undefined>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    case 'holds':
      yield 'before '
      await held(rest)
      yield 'after'
      return
    case 'tells': {
      const { contextId, message } = metadata as { contextId: string; message: { metadata: unknown } }
      return JSON.stringify({ contextId, metadata: message.metadata })
    }
  }
  return `unknown: ${what}`
}

/** Starts the server. */
export async function startServable() {
  const agent = new Agent({ name: 'does', run, tools: [refund], register: false })
  const handler = createHandler({ registry: false, logger: false, serve: [agent], a2a: {} })
  const server = await serve(handler, { port: 0 })
  return { url: server.url, stop: () => server.close() }
}
