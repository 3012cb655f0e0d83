import { afterEach, describe, expect, it, vi } from 'vitest'
import { isProduction, isTest, nameResolver, wantsColors } from '../../src/base/environment.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

describe('what a log asks', () => {
  const terminal = (env: object) => ({ env, stdout: { isTTY: true } })
  const closed = {
    stdout: { isTTY: true },
    get env(): never {
      throw new Error('not permitted')
    },
  }
  it.each([
    ['a terminal', () => terminal({}), true],
    ['a terminal whose user wants no colors', () => terminal({ NO_COLOR: '1' }), false],
    ['a file', () => ({ env: {}, stdout: {} }), false],
    ['a runtime without `process`', () => undefined, false],
    ['a runtime that permits no look', () => closed, false],
  ])('says whether %s has colors', (_, processOf, expected) => {
    vi.stubGlobal('process', processOf())
    const colors = wantsColors()
    vi.unstubAllGlobals()
    expect(colors).toBe(expected)
  })

  it('knows a test', () => {
    expect(isTest()).toBe(true)
    vi.stubEnv('NODE_ENV', 'development')
    expect(isTest()).toBe(false)
    vi.stubGlobal('process', undefined)
    const isOne = isTest()
    vi.unstubAllGlobals()
    expect(isOne).toBe(false)
  })
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

describe('nameResolver', () => {
  /** What it makes of what the runtime's `lookup` does. */
  function resolverWith(lookup: (host: string) => Promise<unknown>) {
    vi.stubGlobal('process', { getBuiltinModule: () => ({ lookup }) })
    return nameResolver()!
  }

  it('gives the addresses of a name, and no alias', async () => {
    const resolve = resolverWith(async () => [
      { address: '1.1.1.1' },
      { address: 'a.example' },
      { address: '::1' },
    ])
    expect(await resolve('x.example')).toEqual(['1.1.1.1', '::1'])
  })

  it('rejects where the lookup fails', async () => {
    const resolve = resolverWith(() => Promise.reject(new Error('EAI_AGAIN')))
    await expect(resolve('x.example')).rejects.toThrow('EAI_AGAIN')
  })

  it('rejects where the lookup has no end', async () => {
    vi.useFakeTimers()
    try {
      const resolve = resolverWith(() => new Promise(() => {}))
      const lost = expect(resolve('x.example')).rejects.toThrow('took too long')
      await vi.advanceTimersByTimeAsync(60_000)
      await lost
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('is none where names cannot be looked up', () => {
    for (const process of [undefined, {}, { getBuiltinModule: () => undefined }]) {
      vi.stubGlobal('process', process)
      expect(nameResolver()).toBeUndefined()
    }
  })
})
