/** What guards do with what comes in and goes out, over every transport. */
import { describe, expect, it } from 'vitest'
import { own, type Server } from '../runs/client.ts'
import { WAYS, type Way } from './ways.ts'

export function guardingCases(server: Server, ways: Readonly<Record<string, Way>> = WAYS): void {
  describe.each(Object.entries(ways))('over %s', (_, ask) => {
    const say = (text: string, name = 'speaker') => ask(server, { name, text, who: own('ann') })

    it('an agent hears what is let in, and a client what is let out', async () => {
      const told = await say('my 1234-5678', 'clerk')
      expect(told).toContain('heard my [card]')
      expect(told).toContain('[passport]')
      expect(told).not.toMatch(/1234-?5678|PP-?\d|123456/)
    })

    it('what is refused never reaches the agent', async () => {
      const told = await say('forbidden')
      expect(told).toContain('Not about that')
      expect(told).not.toContain('FORBIDDEN')
    })

    it('nothing is told of an output that is refused', async () => {
      const told = await say('a bad ghost')
      expect(told).toContain('Not to be said')
      expect(told).not.toContain('GHOST')
    })

    it('another text takes the place of an output', async () => {
      const told = await say('a worse ghost')
      expect(told).toContain('Something better')
      expect(told).not.toContain('GHOST')
    })

    it('a guard that fails lets nothing out', async () => {
      const told = await say('a broken ghost')
      expect(told).toMatch(/Internal server error|guard_failed/)
      expect(told).not.toMatch(/GHOST|vault/)
    })

    it('what passes is as it was', async () => {
      expect(await say('one')).toContain('ONE')
    })
  })
}
