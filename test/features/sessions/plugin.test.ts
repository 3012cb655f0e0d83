import { describe, expect, it } from 'vitest'
import { createHandler, memoryState } from '../../../src/core-entry.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'

describe('`sessions()`', () => {
  it.each([
    ['has no state', {}],
    ['stores nothing', { state: memoryState(), runs: { store: 'none' } as const }],
  ])('refuses a handler that %s', (_, options) => {
    expect(() => createHandler({ ...options, plugins: [sessions()] })).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('`sessions`') }),
    )
  })
})
