/**
 * Servers that are killed at any moment of their workflows. `bench/kills.ts` does the same for longer.
 *
 * @module-tag long
 */
import { describe, expect, it } from 'vitest'
import { killing, STARTS } from './kills.ts'

const CASES = [
  ['Node', 10, 1],
  ['Node', 6, 2],
  ['Bun', 4, 1],
  ['Deno', 4, 1],
] as const

describe.concurrent('a server that is killed again and again', () => {
  it.each(CASES)(
    'ends all of its workflows, and does again only what was not recorded: %s, %i times, %i at a time',
    {
      timeout: 180_000,
    },
    async (runtime, kills, neighbours) => {
      const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 1_000_000))
      const { wrong, workflows, cuts } = await killing({ start: STARTS[runtime], kills, seed, neighbours })
      expect(wrong, `KILL_SEED=${seed}`).toEqual([])
      expect(workflows).toBeGreaterThanOrEqual(4)
      expect(cuts).toBeGreaterThan(0)
    },
  )
})
