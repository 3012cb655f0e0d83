/** Whatever a run says, in whatever order, clients of every version take it: all of it, and once. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joined, takesAnyRun, told } from './any-run.ts'
import { CLIENTS } from './clients.ts'
import { acts, endings, played } from './orders.ts'
import { eventsIn } from './told.ts'

describe('the events of any run', () => {
  it.each([
    ['1.0.0', true],
    ['1.0.0', false],
    ['0.0.52', false],
  ] as const)('are taken by the client %s, spoken to in 1.0: %s', (version, isVersion1) =>
    takesAnyRun(CLIENTS[version], isVersion1),
  )

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
