import { describe, expect, it } from 'vitest'
import type { RunMemory } from '../../../src/agents/memory.ts'
import { HeldMemory } from '../../../src/features/guards/memory.ts'

/** A memory of one session, with what is kept of it. */
function remembering() {
  const kept: unknown[] = []
  const memory: RunMemory = {
    session: () => ({
      read: async () => kept,
      append: async messages => void kept.push(...messages),
      turns: async () => [],
    }),
    corrections: async () => [],
    nameOf: () => 'agent',
    inside: () => memory,
  }
  return { kept, memory }
}

describe('what an agent remembers of an output that a guard has to see first', () => {
  it.each([
    [true, ['one', 'two']],
    [false, []],
  ])('is kept where the guard lets it out: %s', async (passes, left) => {
    const { kept, memory } = remembering()
    const held = new HeldMemory(100)
    const session = held.of(memory).session()
    await session?.append(['one'])
    await session?.append(['two'])
    expect(kept).toEqual([])
    expect(await session?.read()).toEqual(['one', 'two'])
    await held.settle(passes)
    expect(kept).toEqual(left)
  })

  it('fails the run where it is too much', async () => {
    const { kept, memory } = remembering()
    const held = new HeldMemory(20)
    const session = held.of(memory).session()
    await session?.append(['1234567890'])
    await expect(session?.append(['1234567890'])).rejects.toMatchObject({ code: 'run_too_large' })
    await held.settle(true)
    expect(kept).toEqual(['1234567890'])
  })
})
