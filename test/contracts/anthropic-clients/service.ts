/** The service that stock clients of Anthropic's interface ask. Every runtime serves it with a state of its own. */
import {
  bearerAuth,
  createHandler,
  type Handler,
  type Middleware,
  type RunEvent,
  type RunInput,
  type RunOptions,
  requestOf,
  type ServableAgent,
  ServableError,
  type State,
  textOf,
} from '../../../src/index.ts'
import { anthropic } from '../../../src/protocols/anthropic/plugin.ts'
import { agents } from '../openai-clients/agents.ts'

/** Calls the tool `Bash` of its client with what it is told, and says what that gave. */
const shell: ServableAgent = {
  kind: 'agent',
  name: 'shell',
  run: () => Promise.reject(new Error('it streams')),
  async *stream(input: RunInput, { answers = [], runId }: RunOptions = {}): AsyncGenerator<RunEvent> {
    const args = { command: /echo [\w-]+/.exec(textOf(input))?.[0] ?? 'true', description: 'Say it' }
    const call = { toolCallId: 'call-1', toolName: 'Bash' }
    yield { type: 'tool_call_start', toolCall: { id: call.toolCallId, name: call.toolName } }
    yield { type: 'tool_call_ready', toolCallId: call.toolCallId, args }
    const [answer] = answers
    if (answer === undefined) {
      const request = await requestOf({ id: `${runId}/call-1`, kind: 'client_tool', ...call, args })
      return void (yield { type: 'finish', finishReason: 'input_required', requests: [request] })
    }
    const result = 'result' in answer ? answer.result : undefined
    yield { type: 'tool_call_end', toolCallId: call.toolCallId, result }
    yield { type: 'text', text: `Bash said: ${JSON.stringify(result)}` }
    yield { type: 'finish', finishReason: 'stop' }
  },
}

/**
 * Their keys are the deployment's tokens: each names its user, but for one that nobody has. The first request of a user `busy-…` is
 * refused for now.
 */
export function handlerOn(state: State): Handler {
  const refused = new Set<string>()
  const busy: Middleware = (_, { identity }, next) => {
    const id = identity?.id ?? ''
    if (!id.startsWith('busy-') || refused.has(id)) return next()
    refused.add(id)
    throw new ServableError('rate_limited', 'Too many requests')
  }
  return createHandler({
    production: true,
    registry: false,
    agents: { ...agents, shell },
    state,
    middleware: [bearerAuth({ verify: token => (token === 'wrong' ? undefined : { id: token }) }), busy],
    plugins: [anthropic()],
  })
}
