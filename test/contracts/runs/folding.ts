/** A run whose pieces are joined some time after its end is read as before. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Message } from '../http/client.ts'
import { accept, ask, ended, follow, get, type Server } from './client.ts'

const COUNT = 300

const untimed = (messages: readonly Message[]) =>
  messages.map(({ id, event }) => ({ id, event: { ...event, at: 0 } }))

interface Page {
  readonly events: readonly {
    id: number
    event: { type: string; text?: string; at?: number; until?: number }
  }[]
  readonly ended: boolean
}

export function foldingCases(server: Server): void {
  const page = async (id: string, after: number): Promise<Page> =>
    JSON.parse((await ask(server, `/api/runs/${id}/events?after=${after}`)).text)

  it('joins the pieces of an ended run, and tells the same: whole, and after any piece', async () => {
    const { id } = await accept(server, 'agents/counts', { input: `${COUNT}` })
    const record = await ended(server, id)
    const before = await follow(server, id)
    expect(before).toHaveLength(COUNT + 1)
    await eventually(async () => {
      // Logs are folded where a run begins.
      await accept(server, 'agents/echo', { input: 'x' })
      expect((await page(id, 0)).events.length).toBeLessThan(5)
    })
    const { events } = await page(id, 0)
    expect(events.map(({ event }) => event.text ?? '').join('')).toBe(record.result?.text)
    expect(events.at(-1)).toMatchObject({ id: COUNT + 1, event: { type: 'finish' } })
    const [{ event: first } = { event: undefined }] = events
    expect(first?.until).toBeGreaterThanOrEqual(first?.at ?? Number.POSITIVE_INFINITY)

    expect(untimed(await follow(server, id))).toEqual(untimed(before))
    for (const after of [1, 150, COUNT, COUNT + 1]) {
      const rest = await follow(server, id, { 'last-event-id': `${after}` })
      expect(untimed(rest)).toEqual(untimed(before.slice(after)))
      const read = await page(id, after)
      const text = before.slice(after).map(({ event }) => (event.type === 'text' ? event.text : ''))
      expect(read.events.map(({ event }) => event.text ?? '').join('')).toBe(text.join(''))
      expect(read.ended).toBe(true)
    }
    expect(await get(server, id)).toEqual(record)
  })
}
