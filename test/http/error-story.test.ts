import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServableError } from '../../src/base/errors.ts'
import { type ErrorStory, storyOf } from '../../src/http/error-story.ts'

/** Every story in a story. */
function all(story: ErrorStory): ErrorStory[] {
  return [story, ...[story.cause ?? [], story.errors ?? []].flat().flatMap(all)]
}

describe('storyOf', () => {
  it('tells name, message, code, stack and causes', () => {
    const root = Object.assign(new RangeError('the root'), { code: 'ECONNREFUSED' })
    const story = storyOf(new ServableError('provider_failed', 'it failed', { cause: root }))
    expect(story).toMatchObject({
      name: 'ServableError',
      message: 'it failed',
      code: 'provider_failed',
      cause: { name: 'RangeError', message: 'the root', code: 'ECONNREFUSED' },
    })
    expect(story.stack).toMatch(/^ServableError: it failed\n {4}at .*error-story\.test\.ts:\d+/)
    expect(story.cause?.stack).toMatch(/^RangeError: the root\n {4}at /)
  })

  it("tells an AggregateError's errors", () => {
    const { errors } = storyOf(new AggregateError([new Error('one'), 'two'], 'both'))
    expect(errors).toMatchObject([
      { name: 'Error', message: 'one' },
      { name: 'string', message: 'two' },
    ])
  })

  it.each([
    ['text', { name: 'string', message: 'text' }],
    [undefined, { name: 'undefined', message: 'undefined' }],
    [null, { name: 'null', message: 'null' }],
    [7, { name: 'number', message: '7' }],
    [{ message: 'like an error' }, { name: 'Object', message: 'like an error' }],
    [Object.create(null), { name: 'object', message: 'Unknown error' }],
  ])('takes what is no error: %j', (thrown, story) => {
    expect(storyOf(thrown)).toEqual(story)
  })

  it('ends where causes lead back, or lead on without an end', () => {
    const first = new Error('first')
    const second = new Error('second', { cause: first })
    first.cause = second
    expect(all(storyOf(first)).map(({ message }) => message)).toEqual(['first', 'second'])
    let deep = new Error('deepest')
    for (let depth = 0; depth < 100; depth++) deep = new Error(`${depth}`, { cause: deep })
    expect(all(storyOf(deep)).length).toBe(5)
    const wide = new AggregateError(Array.from({ length: 1000 }, (_, n) => new Error(`${n}`)))
    expect(all(storyOf(wide)).length).toBe(10)
    const endless = {
      get cause(): unknown {
        return Object.create(this)
      },
    }
    expect(all(storyOf(endless)).length).toBeLessThanOrEqual(5)
  })

  it('keeps to its bounds, however long the texts', () => {
    const error = new Error('m'.repeat(1_000_000))
    error.name = 'n'.repeat(1_000_000)
    error.stack = `${error.stack}\n${'    at place\n'.repeat(100_000)}`
    expect(JSON.stringify(storyOf(error)).length).toBeLessThan(20_000)
  })

  it('survives getters and proxies that throw', () => {
    const refuse = () => {
      throw new Error('no')
    }
    const hostile = new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse })
    expect(storyOf(hostile)).toEqual({ name: 'object', message: 'Unknown error' })
    const errors = new Proxy([], { get: refuse })
    expect(storyOf({ message: 'x', errors, cause: hostile })).toMatchObject({
      message: 'x',
      cause: { name: 'object' },
    })
    const error = new Error('x')
    for (const member of ['name', 'message', 'stack', 'cause', 'code', 'errors']) {
      Object.defineProperty(error, member, { get: refuse })
    }
    expect(storyOf(error)).toEqual({ name: 'Error', message: 'Unknown error' })
  })

  it('holds no secret and no forged line, in no text of it', () => {
    const forged = 'a\r\n{"level":"error"}\u001b[31m\u2028\u202e'
    fc.assert(
      fc.property(fc.stringMatching(/^[\w+/=.\- %]{4,60}$/), fc.string(), (secret, rest) => {
        const text = `${rest}${secret}${forged}`
        const cause = Object.assign(new TypeError(text), { code: text, name: text })
        const story = storyOf(new AggregateError([text, cause], text, { cause }), [secret])
        for (const { name, message, code = '', stack = '' } of all(story)) {
          for (const each of [name, message, code, ...stack.split('\n')]) {
            if (!'[redacted]'.includes(secret) && !'    at '.includes(secret))
              expect(each).not.toContain(secret)
            expect(each).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
          }
          expect(stack.split('\n').slice(1).join()).not.toContain('level')
        }
      }),
    )
  })

  it('takes no line of a message for a frame', () => {
    const { stack = '' } = storyOf(new Error('first\n    at forged (file:///forged.js:1:1)\nlast'))
    const [, ...frames] = stack.split('\n')
    expect(frames.length).toBeGreaterThan(0)
    expect(frames.join()).not.toContain('forged')
  })

  it("cuts out what looks like a provider's key, known or not", () => {
    const text = 'Incorrect API key provided: sk-abcdefghijklmnop1234'
    expect(JSON.stringify(storyOf(new Error('x', { cause: new Error(text) })))).not.toContain('sk-abc')
  })
})
