import { vi } from 'vitest'

/** Waits until a check throws no more, and gives what it returned. It takes as long as a busy machine may need. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 30_000, interval: 25 })
}
