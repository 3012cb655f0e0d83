/** Runs that say anything in any order, as clients read them. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { RunEvent } from '../../../src/index.ts'
import { AgUiEncoder } from '../../../src/protocols/ag-ui/encoder.ts'
import type { Make } from './clients.ts'
import { acts, endings, played } from './orders.ts'
import { eventsIn, readBy } from './told.ts'

const client = { threadId: 'thread', runId: 'theirs' }
const BEGUN = `data: ${JSON.stringify({ type: 'RUN_STARTED', ...client })}\n\n`

/** A run as it is told. */
export const told = (events: readonly RunEvent[], isVersion1: boolean) => {
  const encoder = new AgUiEncoder({ runId: 'run', client, isVersion1, mayResume: true })
  return BEGUN + events.map(event => encoder.encode(event)).join('')
}

/** What a stream says of one type, joined. */
export const joined = (text: string, type: string) =>
  eventsIn(text)
    .map(event => (event.type === type ? event.delta : ''))
    .join('')

/** Throws where a client does not take a run as it was. */
export async function takesAnyRun(make: Make, isVersion1: boolean): Promise<void> {
  await fc.assert(
    fc.asyncProperty(acts, endings, async (all, ending) => {
      const { events, text } = played(all, ending)
      const stream = told(events, isVersion1)
      const { messages } = await readBy(make, stream)
      const said = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content ?? '')
      expect(said.join('').length).toBe(text.length)
      expect(joined(stream, 'TEXT_MESSAGE_CONTENT')).toBe(text)
    }),
    { numRuns: 200 },
  )
}
