/** Whatever a run says, in whatever order, clients of every version take it: all of it, and once. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AgUiEncoder } from '../../src/ag-ui/encoder.ts'
import type { RunEvent } from '../../src/index.ts'
import { acts, endings, played } from './orders.ts'
import { eventsIn, readBy } from './told.ts'

const client = { threadId: 'thread', runId: 'theirs' }
const BEGUN = `data: ${JSON.stringify({ type: 'RUN_STARTED', ...client })}\n\n`

const told = (events: readonly RunEvent[], isVersion1: boolean) => {
  const encoder = new AgUiEncoder({ runId: 'run', client, isVersion1, mayResume: true })
  return BEGUN + events.map(event => encoder.encode(event)).join('')
}

/** What a stream says of one type, joined. */
const joined = (text: string, type: string) =>
  eventsIn(text)
    .map(event => (event.type === type ? event.delta : ''))
    .join('')

describe('the events of any run', () => {
  it.each([
    ['1.0.0', true],
    ['1.0.0', false],
    ['0.0.52', false],
  ])('are taken by the client %s, spoken to in 1.0: %s', async (version, isVersion1) => {
    await fc.assert(
      fc.asyncProperty(acts, endings, async (all, ending) => {
        const { events, text } = played(all, ending)
        const stream = told(events, isVersion1)
        const { messages } = await readBy(version, stream)
        const said = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content ?? '')
        expect(said.join('').length).toBe(text.length)
        expect(joined(stream, 'TEXT_MESSAGE_CONTENT')).toBe(text)
      }),
      { numRuns: 200 },
    )
  })

  it('tell each call and each result once, and what was thought', () => {
    fc.assert(
      fc.property(acts, endings, (all, ending) => {
        const hasResumed = all.some(({ op }) => op === 'resumed')
        const { events, results, thoughts } = played(all, ending)
        const stream = told(events, true)
        const idsOf = (type: string) =>
          eventsIn(stream).flatMap(event => (event.type === type ? [event.toolCallId] : []))
        const begun = idsOf('TOOL_CALL_START')
        expect(new Set(begun).size).toBe(begun.length)
        expect(idsOf('TOOL_CALL_RESULT')).toEqual(results)
        expect(idsOf('TOOL_CALL_END').length).toBeLessThanOrEqual(begun.length)
        if (!hasResumed) expect(joined(stream, 'REASONING_MESSAGE_CONTENT')).toBe(thoughts)
        return true
      }),
      { numRuns: 200 },
    )
  })

  it('are told in the same words again', () => {
    fc.assert(
      fc.property(acts, endings, (all, ending) => {
        const { events } = played(all, ending)
        return told(events, true) === told(structuredClone(events), true)
      }),
    )
  })
})
