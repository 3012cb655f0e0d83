/** What is read of parts, and what is said of files, whatever clients and agents say. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressesOf, artifactSpot, keyInPath } from '../../../src/features/files/address.ts'
import { contentOf, dispositionOf, fileNameOf, mediaTypeOf } from '../../../src/features/files/content.ts'
import { respondWith } from '../../../src/features/files/response.ts'
import { createMatcher, pathnameOf } from '../../../src/http/router.ts'
import { toBase64 } from '../../../src/web/base64.ts'
import { codePoint } from '../../code-point.ts'

const anyText = fc.string({ unit: codePoint })

describe('the content of a part', () => {
  it('is what its base64 says, however it comes', async () => {
    const kinds = fc.constantFrom('', 'data:image/png;base64,', 'DATA:image/png;x=y; BASE64,')
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), kinds, async (bytes, prefix) => {
        const content = await contentOf({ type: 'image', data: prefix + toBase64(bytes) })
        expect(content).toEqual({ bytes, mimeType: prefix === '' ? undefined : 'image/png' })
      }),
    )
  })

  it('is read in slices where it is large, and is none where padding stands between', async () => {
    const bytes = new Uint8Array(3_000_001).map((_, index) => index)
    const data = toBase64(bytes)
    const whole = await contentOf({ type: 'file', data, mimeType: 'a/b' })
    expect(whole && Buffer.compare(whole.bytes, bytes)).toBe(0)
    const lines = data.replace(/.{76}/g, '$&\r\n')
    const inLines = await contentOf({ type: 'image', data: lines })
    expect(inLines && Buffer.compare(inLines.bytes, bytes)).toBe(0)
    const padded = `${data.slice(0, 1024 * 1024 - 4)}AAA=${data.slice(1024 * 1024)}`
    expect(await contentOf({ type: 'image', data: padded })).toBeUndefined()
  })

  it('is the text of a `data:` URL without base64', async () => {
    const content = await contentOf({ type: 'file', data: 'data:,a%20b', mimeType: 'text/plain' })
    expect(new TextDecoder().decode(content?.bytes)).toBe('a b')
    for (const data of ['data:', 'data:text/plain', 'data:,%', 'https://a.example/b', '/api/runs/x-y', '-_'])
      expect(await contentOf({ type: 'image', data }), data).toBeUndefined()
  })
})

describe('a file', () => {
  it('is said in headers that everyone can read, whatever its name and type', () => {
    const names = fc.oneof(anyText, fc.constantFrom('../../etc/passwd', 'a"b', '\u202egnp.exe', 'a\r\nb: c'))
    fc.assert(
      fc.property(names, anyText, (name, type) => {
        const said = fileNameOf(name)
        expect(said).toMatch(/^[^./\\][^/\\"\r\n\0]{0,119}$/)
        const headers = new Headers({
          'content-disposition': dispositionOf(said),
          'content-type': mediaTypeOf(type),
        })
        const value = headers.get('content-disposition') ?? ''
        const [, plain = '', escaped = ''] =
          /^attachment; filename="([^"\\]*)"; filename\*=UTF-8''(.*)$/.exec(value)!
        expect(plain).toMatch(/^[\w.~ -]+$/)
        expect(escaped).toMatch(/^[\w.!#$&+^`|~%-]+$/)
        expect(decodeURIComponent(escaped)).toBe(said)
      }),
    )
  })

  it.each(['image/png', 'text/plain; charset=utf-8', 'a/b;c="d e"'])('has the media type %s', type => {
    expect(mediaTypeOf(type)).toBe(type)
  })

  it.each(['', 'x', '*/*', 'image/*', 'a/b\n', 'a/b\r\nx: y', 'a/b, c/d', `a/${'b'.repeat(300)}`, 7, null])(
    'has no media type %j',
    type => expect(mediaTypeOf(type)).toBe('application/octet-stream'),
  )
})

describe('an address', () => {
  const find = createMatcher([{ method: 'GET', path: '/api/runs/:id/artifacts/:artifact' }])

  it('leads to its artifact, whatever the id', async () => {
    const ids = fc.oneof(
      anyText,
      fc.constantFrom('', '.', '..', '%2f', '~', '\ud800', 'a/../b', 'x'.repeat(300)),
    )
    await fc.assert(
      fc.asyncProperty(ids, fc.nat(9), async (artifactId, part) => {
        const spot = await artifactSpot(artifactId)
        const address = addressesOf('https://a.example', '/api')('run', spot, part)
        // As a client of whatever kind sends it.
        const { href, search } = new URL(address)
        const match = find('GET', pathnameOf(href))
        expect(match?.found).toBe('route')
        const { artifact = '' } = match?.found === 'route' ? match.params : {}
        expect(await keyInPath(artifact)).toBe(spot.key)
        expect(Number(new URLSearchParams(search).get('part') ?? 0)).toBe(part)
      }),
    )
  })
})

describe('a range', () => {
  const bytes = new Uint8Array(100).map((_, index) => index)
  const file = { digest: 'd', size: 100, mimeType: 'a/b', filename: 'f' }

  /** The same bytes at once, and as a stream. */
  const sources = [
    async () => bytes,
    async () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < 100; at += 7) controller.enqueue(bytes.slice(at, at + 7))
          controller.close()
        },
      }),
  ]

  it('gives what it says, or all', async () => {
    const place = fc.oneof(fc.nat(150).map(String), fc.constantFrom('', '9'.repeat(15)))
    await fc.assert(
      fc.asyncProperty(place, place, fc.constantFrom(...sources), async (first, last, read) => {
        const request = new Request('http://a.example', { headers: { range: `bytes=${first}-${last}` } })
        const response = await respondWith(request, { ...file, read })
        const given = new Uint8Array(await response.arrayBuffer())
        expect(response.headers.get('content-length')).toBe(String(given.length))
        if (response.status === 200) {
          expect(given).toEqual(bytes)
          return
        }
        const [, from, to] = /^bytes (\d+)-(\d+)\/100$/.exec(response.headers.get('content-range') ?? '')!
        expect(given).toEqual(bytes.slice(Number(from), Number(to) + 1))
        expect(Number(from)).toBe(first === '' ? Math.max(0, 100 - Number(last)) : Number(first))
      }),
    )
  })

  it('is of what the client has, or it gets all', async () => {
    const ask = (headers: Record<string, string>) =>
      respondWith(new Request('http://a.example', { headers }), { ...file, read: async () => bytes })
    expect((await ask({ range: 'bytes=0-1', 'if-range': '"d"' })).status).toBe(206)
    expect((await ask({ range: 'bytes=0-1', 'if-range': '"e"' })).status).toBe(200)
    expect((await ask({ range: 'bytes=0-1,3-4' })).status).toBe(200)
    expect((await ask({ 'if-none-match': '*' })).status).toBe(304)
    expect((await ask({ 'if-none-match': '"e"' })).status).toBe(200)
  })
})
