import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { isLonger, readJson, readText, requireJson } from '../../src/web/body.ts'
import { codePoint } from '../code-point.ts'

const encoder = new TextEncoder()

/** A request whose body comes in these chunks; `length` is what it declares. */
function request(chunks: readonly (string | Uint8Array)[], length?: number | string) {
  const cancel = vi.fn()
  const left = chunks.map(chunk => (typeof chunk === 'string' ? encoder.encode(chunk) : chunk))
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel,
  })
  const headers = length === undefined ? {} : { 'content-length': String(length) }
  const init = { method: 'POST', body, headers, duplex: 'half' }
  return { request: new Request('http://h/', init), cancel, left }
}

const TOO_LARGE = { code: 'body_too_large' }

describe('isLonger', () => {
  it('counts the bytes of UTF-8', () => {
    const units = fc.string({ unit: codePoint })
    fc.assert(
      fc.property(units, fc.nat(40), (text, bound) => {
        expect(isLonger(text, bound)).toBe(encoder.encode(text).length > bound)
      }),
    )
  })
})

describe('readText', () => {
  it.each<[string, number | undefined]>([
    ['with its length', 10],
    ['without a length', undefined],
  ])('reads a body %s up to the bound', async (_, length) => {
    expect(await readText(request(['01234', '56789'], length).request, 10)).toBe('0123456789')
  })

  it('refuses a body that declares more than the bound, without reading it', async () => {
    const { request: large, left } = request(['a', 'b', 'c'], 11)
    const before = left.length
    await expect(readText(large, 10)).rejects.toMatchObject(TOO_LARGE)
    expect(left.length).toBeGreaterThanOrEqual(before - 1)
  })

  it.each(['0x5', '', '1e1', '-1', '5, 5'])(
    'counts a body whose length is declared as "%s"',
    async length => {
      await expect(readText(request(['01234', '567890'], length).request, 10)).rejects.toMatchObject(
        TOO_LARGE,
      )
    },
  )

  it('refuses a body without a length at the first byte too many, and reads no further', async () => {
    const chunks = Array<string>(100).fill('0123456789')
    const { request: endless, cancel, left } = request(chunks)
    await expect(readText(endless, 25)).rejects.toMatchObject(TOO_LARGE)
    expect(cancel).toHaveBeenCalledTimes(1)
    expect(left.length).toBeGreaterThan(90)
  })

  it('refuses a body that is larger than it declares', async () => {
    await expect(readText(request(['0123456789', '0'], 5).request, 10)).rejects.toMatchObject(TOO_LARGE)
  })

  it.each([undefined, 5])('counts bytes, not characters (length declared: %s)', async length => {
    const { request: wide } = request(['é'.repeat(6)], length)
    await expect(readText(wide, 10)).rejects.toMatchObject(TOO_LARGE)
  })

  it.each([
    ['that is declared', { 'content-length': '1000' }],
    ['without a length', {}],
  ])('gives up a body %s that comes byte by byte, after two minutes', async (_, headers) => {
    vi.useFakeTimers()
    try {
      let sent = 0
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await new Promise(resolve => setTimeout(resolve, 1000))
          sent++
          controller.enqueue(encoder.encode(' '))
        },
      })
      const init = { method: 'POST', body, headers, duplex: 'half' }
      const reading = readText(new Request('http://h/', init), 1_000_000)
      const refused = expect(reading).rejects.toMatchObject({
        code: 'invalid_body',
        message: 'The body took longer than 120000 ms to arrive',
      })
      await vi.advanceTimersByTimeAsync(119_000)
      expect(sent).toBeGreaterThan(100)
      await vi.advanceTimersByTimeAsync(1000)
      await refused
    } finally {
      vi.useRealTimers()
    }
  })

  it('leaves no timer', async () => {
    vi.useFakeTimers()
    try {
      for (const length of [2, undefined])
        expect(await readText(request(['ab'], length).request, 10)).toBe('ab')
      await expect(readText(request(['ab'], 1).request, 1)).rejects.toMatchObject(TOO_LARGE)
      await expect(readText(request(['ab']).request, 1)).rejects.toMatchObject(TOO_LARGE)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('gives an empty text where there is no body', async () => {
    expect(await readText(new Request('http://h/', { method: 'POST' }), 10)).toBe('')
    expect(await readText(request([], 0).request, 10)).toBe('')
  })

  it('puts characters together that are split over chunks', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (sent, size) => {
        const bytes = encoder.encode(sent)
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.slice(index * size, (index + 1) * size),
        )
        expect(await readText(request(chunks).request, 10_000)).toBe(sent)
      }),
    )
  })

  it.each([
    ['a byte that is none', [0x61, 0xff]],
    ['a character that is cut off', [0x61, 0xe2, 0x82]],
    ['half of a pair', [0xed, 0xa0, 0x80]],
  ])('refuses %s, which is not UTF-8, with a length and without', async (_, broken) => {
    const bytes = Uint8Array.from(broken)
    const refused = { code: 'invalid_body', message: 'The body must be UTF-8' }
    await expect(readText(request([bytes]).request, 10)).rejects.toMatchObject(refused)
    await expect(readText(request([bytes], bytes.length).request, 10)).rejects.toMatchObject(refused)
  })

  it('takes the replacement character that a client sends, with a mark before it and without', async () => {
    for (const text of ['a\ufffdb', '\ufffd']) {
      for (const sent of [text, `\ufeff${text}`]) {
        const bytes = new TextEncoder().encode(sent)
        expect(await readText(request([bytes], bytes.length).request, 100)).toBe(text)
      }
    }
  })

  it('leaves out a byte order mark, with a length and without', async () => {
    const marked = '\ufeff{}'
    expect(await readText(request([marked]).request, 10)).toBe('{}')
    expect(await readText(request([marked], 5).request, 10)).toBe('{}')
  })
})

describe('readJson', () => {
  it('reads JSON', async () => {
    expect(await readJson(request(['{"a":', '[1]}']).request, 100)).toEqual({ a: [1] })
  })

  it.each(['', ' ', '{', 'undefined', "{'a':1}", '{"a":1}}', 'NaN'])('refuses "%s"', async body => {
    await expect(readJson(request([body]).request, 100)).rejects.toMatchObject({ code: 'invalid_body' })
  })

  it('refuses what is too large before it is read as JSON', async () => {
    await expect(readJson(request(['{'.repeat(11)]).request, 10)).rejects.toMatchObject(TOO_LARGE)
  })

  it('repeats nothing of the body', async () => {
    const error: unknown = await readJson(request(['sk-canary']).request, 100).catch(thrown => thrown)
    expect(String(error)).not.toContain('canary')
  })
})

describe('requireJson', () => {
  const typed = (type: string | null) => {
    const headers = new Headers(type === null ? {} : { 'content-type': type })
    return () => requireJson(new Request('http://h/', { method: 'POST', headers }))
  }

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'APPLICATION/JSON',
    'application/ld+json',
    'application/vnd.api.v1+json; a=b',
  ])('takes %s', type => {
    expect(typed(type)).not.toThrow()
  })

  it.each([
    null,
    '',
    'text/plain',
    'text/json',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json2',
    'application/+json',
    'text/plain; application/json',
    'application/json, text/plain',
  ])('refuses %s', type => {
    expect(typed(type)).toThrow(expect.objectContaining({ code: 'unsupported_media_type' }))
  })
})
