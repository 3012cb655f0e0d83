/** Servers that are killed at any moment of their workflows. `bench/kills.ts` does the same for longer. */
import { describe, expect, it } from 'vitest'
import { killing, STARTS } from './kills.ts'

/** What is tried. A failure tells the seed. */
const KILLS: Readonly<Record<keyof typeof STARTS, number>> = { Node: 25, Bun: 4, Deno: 4 }

describe.each(Object.entries(STARTS))('a server that is killed again and again: %s', (name, start) => {
  it('ends all of its workflows, and does again only what was not recorded', {
    timeout: 180_000,
  }, async () => {
    const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 1_000_000))
    const { wrong, workflows, cuts } = await killing({
      start,
      kills: KILLS[name as keyof typeof STARTS],
      seed,
    })
    expect(wrong, `seed ${seed}`).toEqual([])
    expect(workflows).toBeGreaterThanOrEqual(4)
    expect(cuts).toBeGreaterThan(0)
  })
})
