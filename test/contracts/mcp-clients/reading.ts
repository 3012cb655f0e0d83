/** What every stock client of MCP reads of the service, as far as it knows how. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Place, Reading } from '../../frameworks/mcp-clients/way.ts'
import { own } from '../runs/client.ts'
import type { Server } from './server.ts'

/** The names of the clients, and what each has no method for. */
export const READERS: Readonly<Record<string, readonly string[]>> = {
  'client 2, 2026-07-28': [],
  'client 2, 2025-11-25': [],
  'sdk 1, 2025-11-25': [],
  '@ai-sdk/mcp 1': ['subscribe'],
  '@ai-sdk/mcp 2': ['subscribe'],
  '@mastra/mcp': ['complete'],
  '@openai/agents': ['prompt', 'complete', 'subscribe'],
}

export function readingCases(
  name: string,
  connect: () => (place: Place) => Promise<Reading>,
  server: Server,
): void {
  it(`reads what it can: ${name}`, async () => {
    // A user may have only so many streams of changes, and the other tests have some too.
    const token = own('reader')
    const mine = `words://of/${token}`
    const reading = await connect()({ url: `${server().url}/mcp`, token })
    try {
      const known = ['prompt', 'complete', 'subscribe'].filter(each => !(each in reading))
      expect(known).toEqual(READERS[name])
      expect(await reading.list()).toEqual(expect.arrayContaining(['words://all', mine]))
      expect(await reading.read('words://all')).toMatchObject([
        { uri: 'words://all', mimeType: 'text/plain', text: 'lamp, oil' },
      ])
      expect(await reading.read(mine)).toMatchObject([{ blob: 'AwMD' }])
      await expect(reading.read('words://of/bob')).rejects.toThrow('There is no such resource')
      if (reading.prompt)
        expect(await reading.prompt('define', { word: 'lamp' })).toMatchObject({
          role: 'user',
          content: { type: 'text', text: 'What is lamp?' },
        })
      if (reading.complete) expect(await reading.complete('define', 'word', 'l')).toEqual(['lamp'])
      let changes = 0
      await reading.subscribe?.('words://newest', () => changes++)
      if (reading.subscribe) await eventually(async () => expect(changes).toBeGreaterThan(0))
    } finally {
      await reading.close()
    }
  })
}
