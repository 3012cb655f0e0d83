import { afterEach, describe, expect, it, vi } from 'vitest'
import { isProduction } from '../src/environment.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

/** What it says while `process` is this. */
function isProductionWith(process: unknown): boolean {
  vi.stubGlobal('process', process)
  try {
    return isProduction()
  } finally {
    vi.unstubAllGlobals()
  }
}

describe('isProduction', () => {
  it.each([
    ['production', true],
    ['development', false],
    ['test', false],
    ['staging', true],
    ['', true],
    [undefined, true],
  ])('is for NODE_ENV %s: %s', (value, expected) => {
    vi.stubEnv('NODE_ENV', value)
    expect(isProduction()).toBe(expected)
  })

  it('is true where there is no `process`', () => {
    expect(isProductionWith(undefined)).toBe(true)
    expect(isProductionWith({})).toBe(true)
  })

  it('is true where reading is not permitted', () => {
    const env = new Proxy(
      {},
      {
        get() {
          throw new Error('not permitted')
        },
      },
    )
    expect(isProductionWith({ env })).toBe(true)
  })
})
