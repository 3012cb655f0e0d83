import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/index.ts'
import { ask, eventsOf, guardedHandler, MASK } from '../features/guards/kit.ts'

const USAGE = {
  ...{ promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 1 },
  models: [{ model: 'a/b', promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 1 }],
}
const FACTS = { agent: 'who', parentId: 'place' }
const PARTS = [{ type: 'text', text: 'part', metadata: { any: ['thing'] } }] as const

/** One event of each type, with all members that it may have. */
const EVENTS: readonly RunEvent[] = [
  { type: 'thinking', text: 'x' },
  { type: 'text', text: 'x' },
  { type: 'tool_call_start', toolCall: { id: 't', name: 'tool' }, isClientTool: true },
  { type: 'tool_call_delta', toolCallId: 't', argumentsDelta: '{}' },
  { type: 'tool_call_ready', toolCallId: 't', args: { any: ['thing'] } },
  { type: 'tool_call_end', toolCallId: 't', result: { any: ['thing'] } },
  { type: 'tool_call_end', toolCallId: 't', error: 'x', code: 'tool_failed' },
  { type: 'model_call', model: 'a/b', usage: USAGE, finishReason: 'stop', durationMs: 1 },
  {
    ...{ type: 'step', id: 's', name: 'step', status: 'failed', index: 1, text: 'x' },
    ...{ durationMs: 1, error: 'x' },
  } as RunEvent,
  {
    ...{ type: 'artifact', artifactId: 'a', name: 'n', description: 'd', parts: PARTS },
    ...{ metadata: { any: ['thing'] }, extensions: ['e'], append: true, lastChunk: true },
  } as RunEvent,
  { type: 'message', parts: PARTS, metadata: { any: ['thing'] }, extensions: ['e'] },
].map(event => ({ ...event, ...FACTS }) as RunEvent)

const FINISH: RunEvent = {
  type: 'finish',
  finishReason: 'stop',
  message: 'bye',
  usage: USAGE,
  structured: { any: ['thing'] },
}

const WAITING = ({ runId }: { readonly runId?: string | undefined }) => {
  const request = { id: `${runId}/q`, kind: 'question', digest: 'd', message: 'Well?' }
  return { type: 'finish', finishReason: 'input_required', requests: [request] } as RunEvent
}

const SECRET = 'no-guard-sees-this'

/** Names of members of some events, which others do not have, and any other names. */
const names = fc.oneof(
  fc.constantFrom(...new Set([...EVENTS, FINISH].flatMap(event => Object.keys(event)))),
  fc.constantFrom('toJSON', 'constructor', 'thrown', 'more'),
  fc.string({ minLength: 1 }),
)

/** The event with further members of those names, wherever the contract names the members. */
function withMore(event: RunEvent, more: readonly string[]): RunEvent {
  const addedTo = <V extends object>(value: V, known = new Set(Object.keys(value))): V => {
    const unknown = more.filter(name => !known.has(name))
    return {
      ...Object.fromEntries(unknown.map(name => [name, name === 'toJSON' ? undefined : SECRET])),
      ...value,
    }
  }
  const told = addedTo(event, MEMBERS.get(event.type))
  if (told.type === 'tool_call_start') return { ...told, toolCall: addedTo(told.toolCall) }
  if ((told.type !== 'finish' && told.type !== 'model_call') || told.usage === undefined) return told
  const { models = [] } = told.usage
  return { ...told, usage: addedTo({ ...told.usage, models: models.map(each => addedTo(each)) }) }
}

/** The members that an event of each type may have. */
const MEMBERS: ReadonlyMap<string, Set<string>> = new Map(
  [...EVENTS, FINISH].map(({ type }) => {
    const alike = [...EVENTS, FINISH, WAITING({})].filter(event => event.type === type)
    return [type, new Set(['at', 'agent', 'parentId', ...alike.flatMap(event => Object.keys(event))])]
  }),
)

async function storedEvents(handler: ReturnType<typeof guardedHandler>, id: string): Promise<RunEvent[]> {
  const answer = await handler(new Request(`http://localhost/api/runs/${id}/events`))
  const { events } = await answer.json()
  return events.map(({ event: { at: _, ...event } }: { event: RunEvent }) => event)
}

describe('the members of an event', () => {
  it('that the contract does not know reach no reader, and those that it knows do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(names, { maxLength: 8 }), fc.boolean(), async (more, waits) => {
        const handler = guardedHandler(
          async function* (_, options) {
            for (const event of [...EVENTS, waits ? WAITING(options) : FINISH]) yield withMore(event, more)
          },
          { onOutput: MASK },
        )
        const answer = await ask(handler, { input: 'hi', background: true }, 'agents/tested/stream')
        const id = String(answer.headers.get('x-run-id'))
        const told = await eventsOf(answer)
        const last = waits ? WAITING({ runId: id }) : FINISH
        const expected = [...EVENTS, last].map(event => expect.objectContaining(event))
        for (const events of [told, await storedEvents(handler, id)]) {
          expect(JSON.stringify(events)).not.toContain(SECRET)
          expect(events).toEqual(expected)
        }
        const kept = await handler(new Request(`http://localhost/api/runs/${id}`))
        expect(await kept.text()).not.toContain(SECRET)
      }),
      { numRuns: 60 },
    )
  })
})
