import { type GuardsOptions, guards } from '../../../src/features/guards/plugin.ts'
import {
  type Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  memoryState,
  type RunEvent,
  type RunInput,
  type RunOptions,
} from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

/** What a card looks like in these tests, and what takes its place. */
export const CARD = /\b\d{4}-\d{4}\b/
export const MASK = { mask: [{ pattern: CARD, with: '[card]' }] }

export type Body = (input: RunInput, options: RunOptions) => AsyncIterable<RunEvent>

/** A handler with one agent, `tested`. */
export function guardedHandler(stream: Body, options: GuardsOptions, more: HandlerOptions = {}): Handler {
  const tested = {
    kind: 'agent',
    name: 'tested',
    stream,
    run: () => Promise.reject(new Error('unused')),
  } as const
  return createHandler({
    agents: { tested: tested as unknown as Agent },
    registry: false,
    logger: false,
    state: memoryState(),
    ...more,
    plugins: [guards(options), ...(more.plugins ?? [])],
  })
}

/** The events, as an agent gives them. */
export function saying(...events: readonly RunEvent[]): Body {
  return async function* () {
    yield* events
  }
}

export function text(said: string): RunEvent {
  return { type: 'text', text: said }
}

/** Asks the agent. */
export function ask(handler: Handler, body: object | string, path = 'agents/tested/run'): Promise<Response> {
  const json = typeof body === 'string' ? { input: body } : body
  return Promise.resolve(handler(new Request(`http://localhost/api/${path}`, jsonRequest(json))))
}

/** The events of a stream, without their times. */
export async function eventsOf(answer: Response): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for (const [, data = ''] of (await answer.text()).matchAll(/^data: (.*)$/gm)) {
    const { at: _, ...event } = JSON.parse(data)
    events.push(event)
  }
  return events
}

export const stream = async (handler: Handler, body: object | string = 'hi') =>
  eventsOf(await ask(handler, body, 'agents/tested/stream'))
