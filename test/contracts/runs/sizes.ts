import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { type Message, run } from '../http/client.ts'
import { LARGE, measure, textOfLength } from './agents.ts'
import { accept, follow, own, type Server } from './client.ts'

/** The texts of the large run. */
function largeTexts(): string[] {
  const words = Array.from({ length: LARGE.words }, (_, index) => `word ${index} `)
  return [...Array.from({ length: LARGE.texts }, () => textOfLength(LARGE.length)), ...words]
}

const textsIn = (messages: readonly Message[]) =>
  messages.flatMap(({ event }) => (event.type === 'text' ? [event.text] : []))

/** Compares texts without a huge failure message. */
function expectSame(actual: string, expected: string): void {
  expect(actual.length).toBe(expected.length)
  expect(actual === expected).toBe(true)
}

/** The same as `get`, without checking every character. */
async function recordOf(server: Server, id: string): Promise<RunRecord> {
  const response = await fetch(`${server().url}/api/runs/${id}`)
  expect(response.status).toBe(200)
  return response.json() as Promise<RunRecord>
}

export function sizeCases(server: Server): void {
  describe('a run of more than 3 MB', () => {
    it('is kept whole: its events, its result, and what comes after any of them', async () => {
      const texts = largeTexts()
      const { id } = await accept(server, 'agents/large', { input: 'x' })
      const messages = await follow(server, id)
      expect(messages).toHaveLength(texts.length + 1)
      expectSame(textsIn(messages).join('|'), texts.join('|'))
      const again = await follow(server, id)
      expectSame(JSON.stringify(again), JSON.stringify(messages))
      const rest = await follow(server, id, { 'last-event-id': '2' })
      expectSame(JSON.stringify(rest), JSON.stringify(messages.slice(2)))
      await eventually(async () => expect((await recordOf(server, id)).status).toBe('completed'))
      expectSame((await recordOf(server, id)).result?.text ?? '', texts.join(''))
    })

    it('is answered as JSON', async () => {
      const { text } = await run(server, '/api/agents/large/run', { input: 'x', background: true })
      expectSame(text, largeTexts().join(''))
    })
  })

  describe('an input of 5 MB', () => {
    const data = textOfLength(5 * 1024 * 1024 - 1024)
    const parts = [
      { type: 'text', text: 'look' },
      { type: 'file', data, mimeType: 'text/plain' },
    ]

    it.each([
      ['text', data],
      ['a file', parts],
    ])('as %s reaches the agent whole', async (_, input) => {
      const headers = { 'idempotency-key': own('key') }
      const measured = { structured: measure(JSON.stringify(input)) }
      const first = await run(server, '/api/agents/measures/run', { input }, headers)
      expect(first).toMatchObject(measured)
      const second = await run(server, '/api/agents/measures/run', { input }, headers)
      expect(second).toEqual(first)
      const { id } = await accept(server, 'agents/measures', { input })
      await eventually(async () => expect(await recordOf(server, id)).toMatchObject({ result: measured }))
    })
  })
}
