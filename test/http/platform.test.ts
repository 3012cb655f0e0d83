import { describe, expect, it, vi } from 'vitest'
import { platformOf } from '../../src/http/platform.ts'
import { type Context, createHandler, type Middleware, platform } from '../../src/index.ts'

/** Another runtime's second argument, as each of them passes its own. */
const FOREIGN: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a server', { ip: '6.6.6.6', requestIP: () => ({ address: '6.6.6.6' }) }],
  ['connection info', { remoteAddr: { hostname: '6.6.6.6' }, ip: '6.6.6.6' }],
  ['bindings', { ip: '6.6.6.6', waitUntil: () => {} }],
  ['route params', { params: Promise.resolve({}), ip: '6.6.6.6' }],
  ['text', '6.6.6.6'],
  ['a function', Object.assign(() => {}, { ip: '6.6.6.6' })],
]

async function contextFor(argument: unknown): Promise<Context> {
  const seen = Promise.withResolvers<Context>()
  const look: Middleware = (_, context, next) => {
    seen.resolve(context)
    return next()
  }
  await createHandler({ registry: false, middleware: [look] })(new Request('http://h/'), argument)
  return seen.promise
}

describe('platform', () => {
  it('brands an object and leaves it the same', () => {
    const own = { ip: '1.2.3.4' }
    expect(platform(own)).toBe(own)
    expect(platformOf(own)).toBe(own)
    expect(Object.keys(own)).toEqual(['ip'])
  })

  it('reads a lazy address when it is asked for only', async () => {
    const ip = vi.fn(() => '1.2.3.4')
    const lazy = platform({
      get ip() {
        return ip()
      },
    })
    const context = await contextFor(lazy)
    expect(ip).not.toHaveBeenCalled()
    expect(context.ip).toBe('1.2.3.4')
  })

  it('gives middleware address and `waitUntil`', async () => {
    const waitUntil = vi.fn()
    const context = await contextFor(platform({ ip: '1.2.3.4', waitUntil }))
    const promise = Promise.resolve()
    context.waitUntil(promise)
    expect(waitUntil).toHaveBeenCalledExactlyOnceWith(promise)
  })

  it('works without `waitUntil`', async () => {
    const context = await contextFor(platform({}))
    expect(() => context.waitUntil(Promise.resolve())).not.toThrow()
  })

  it.each(FOREIGN)('ignores %s in its place', async (_, argument) => {
    const context = await contextFor(argument)
    expect(context.ip).toBeUndefined()
    expect(() => context.waitUntil(Promise.resolve())).not.toThrow()
  })
})
