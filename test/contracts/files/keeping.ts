import { expect, it } from 'vitest'
import { toBase64 } from '../../../src/web/base64.ts'
import { jsonRequest, messagesOf } from '../http/client.ts'
import { get, type Server, streamRequest } from '../runs/client.ts'
import { bytesOf } from './bytes.ts'
import {
  addressIn,
  as,
  bytesAt,
  dataOf,
  fetchFile,
  makes,
  own,
  partsIn,
  refusalAt,
  says,
  sends,
  turnsOf,
} from './client.ts'

/** Compares at once: a look at each byte would let connections time out. */
function expectSame(bytes: Uint8Array, expected: Uint8Array): void {
  expect(Buffer.compare(bytes, expected)).toBe(0)
}

/** What becomes of the files of a stored run. A host may leave out the length of an answer. */
export function keepingCases(server: Server, { tellsLength = true } = {}): void {
  it('gives an artifact the address of its file, in the record and in the events', async () => {
    const made = { size: 700_001, seed: 1 }
    const parts = [{ type: 'image', made, mimeType: 'image/png' }]
    const record = await makes(server, 'chart', parts)
    const address = `/api/runs/${record.id}/artifacts/chart`
    expect(record.result?.artifacts).toEqual([
      { artifactId: 'chart', parts: [{ type: 'image', data: address, mimeType: 'image/png' }] },
    ])
    const messages = []
    for await (const { event } of messagesOf(await streamRequest(server, record.id))) messages.push(event)
    expect(partsIn(messages)).toEqual(record.result?.artifacts?.[0]?.parts)
    expectSame(await bytesAt(server, address), bytesOf(made))
  })

  it('answers with a file that is to be saved, and never shown', async () => {
    const parts = [{ type: 'file', made: { size: 5000 }, mimeType: 'text/html', filename: 'ä "b"\r\nc.html' }]
    const address = addressIn(await makes(server, 'page', parts))
    const response = await fetchFile(server, address)
    const { headers } = response
    expect(headers.get('content-type')).toBe('text/html')
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="_ _b___c.html"; filename*=UTF-8''%C3%A4%20_b___c.html`,
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe('sandbox')
    expect(headers.get('cache-control')).toBe('private, immutable')
    expect((await response.arrayBuffer()).byteLength).toBe(5000)
    const head = await fetchFile(server, address, {}, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, tellsLength ? '5000' : null])
    const etag = headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\da-f]{64}"$/)
    expect((await fetchFile(server, address, { 'if-none-match': `"x", W/${etag}` })).status).toBe(304)
    const partial = await fetchFile(server, address, { range: 'bytes=10-19' })
    expect([partial.status, partial.headers.get('content-range')]).toEqual([206, 'bytes 10-19/5000'])
    expect(new Uint8Array(await partial.arrayBuffer())).toEqual(bytesOf({ size: 5000 }).slice(10, 20))
  })

  it('gives ranges of a file of many pieces', async () => {
    const made = { size: 4_500_000, seed: 3 }
    const headers = as(own('ranges'))
    const record = await makes(server, 'big', [{ type: 'file', made, mimeType: 'a/b' }], headers)
    const address = addressIn(record)
    expectSame(await bytesAt(server, address, headers), bytesOf(made))
    for (const [range, from, to] of [
      ['bytes=2000000-2500000', 2_000_000, 2_500_001],
      ['bytes=-10', 4_499_990, 4_500_000],
      ['bytes=4499999-', 4_499_999, 4_500_000],
    ] as const) {
      const response = await fetchFile(server, address, { ...headers, range })
      expect(response.status, range).toBe(206)
      expectSame(new Uint8Array(await response.arrayBuffer()), bytesOf(made).slice(from, to))
    }
    const whole = await fetchFile(server, address, { ...headers, range: 'bytes=4500000-' })
    expect([whole.status, (await whole.arrayBuffer()).byteLength]).toEqual([200, 4_500_000])
  })

  it('leaves what is small where it is, and serves it as well', async () => {
    const record = await makes(server, 'small', [
      { type: 'file', made: { size: 3 }, mimeType: 'a/b', filename: 'x' },
      { type: 'text', text: 'ä' },
      { type: 'data', data: { a: 1 } },
    ])
    expect(addressIn(record)).toBe('AB8+')
    const at = `/api/runs/${record.id}/artifacts/small`
    expect(await bytesAt(server, at)).toEqual(bytesOf({ size: 3 }))
    const text = await fetchFile(server, `${at}?part=1`)
    expect([text.headers.get('content-type'), await text.text()]).toEqual(['text/plain; charset=utf-8', 'ä'])
    expect(await (await fetchFile(server, `${at}?part=2`)).json()).toEqual({ a: 1 })
    expect(await refusalAt(server, `${at}?part=3`)).toEqual([404, 'file_not_found'])
    expect(await refusalAt(server, `${at}?part=x`)).toEqual([400, 'invalid_query'])
  })

  it('gives the files of messages addresses too', async () => {
    const made = { size: 5000, seed: 4 }
    const events = [
      { type: 'message', parts: [{ type: 'text', text: 'look' }] },
      {
        type: 'message',
        parts: [
          { type: 'text', text: 'here' },
          { type: 'image', made },
        ],
      },
    ]
    const { id } = await says(server, events)
    const said = []
    for await (const { event } of messagesOf(await streamRequest(server, id))) said.push(event)
    const address = dataOf(partsIn(said)[2])
    expect(address).toBe(`/api/runs/${id}/messages/2?part=1`)
    expectSame(await bytesAt(server, address), bytesOf(made))
    for (const path of ['messages/1', 'messages/2', 'messages/3', 'messages/0', 'messages/x', 'input'])
      expect(await refusalAt(server, `/api/runs/${id}/${path}`), path).toEqual([404, 'file_not_found'])
  })

  it('makes one file of an artifact that comes in chunks', async () => {
    const artifact = { type: 'artifact', artifactId: 'chunks' }
    const chunk = (seed: number) => ({ type: 'file', made: { size: 3000, seed }, mimeType: 'a/b' })
    const record = await says(server, [
      { ...artifact, lastChunk: false, parts: [{ type: 'text', text: 'x' }, chunk(1)] },
      { ...artifact, append: true, parts: [chunk(2)] },
      { ...artifact, append: true, lastChunk: true, name: 'log', parts: [chunk(3)] },
    ])
    const [found] = record.result?.artifacts ?? []
    expect(found?.parts.map(({ type }) => type)).toEqual(['text', 'file'])
    const address = dataOf(found?.parts[1])
    expect(address).toBe(`/api/runs/${record.id}/artifacts/chunks?part=1`)
    const all = [1, 2, 3].flatMap(seed => [...bytesOf({ size: 3000, seed })])
    expect(Array.from(await bytesAt(server, address))).toEqual(all)
  })

  it('serves an artifact whatever its id', async () => {
    const ids = ['a/b', '..', '.', '', 'ä 日/😀', '\ud800', '%2e', '~x', 'x'.repeat(1000), '?part=1', '\n']
    const artifact = (artifactId: string, index: number) => ({
      type: 'artifact',
      artifactId,
      parts: [{ type: 'file', made: { size: 5000, seed: index }, mimeType: 'a/b' }],
    })
    const record = await says(server, ids.map(artifact))
    expect(record.result?.artifacts).toHaveLength(ids.length)
    for (const [index, { parts, artifactId }] of (record.result?.artifacts ?? []).entries()) {
      const address = dataOf(parts[0])
      expect(await bytesAt(server, address), artifactId).toEqual(bytesOf({ size: 5000, seed: index }))
    }
  })

  it('says no media type that is none', async () => {
    const types = ['text/html\r\nx: y', 'image/*', '', 'x', 'a/b, c/d', 'text/plain; charset=utf-8']
    const parts = types.map(mimeType => ({ type: 'file', made: { size: 5000 }, mimeType }))
    const { id } = await makes(server, 'types', parts)
    const told = await Promise.all(
      types.map(async (_, part) => {
        const response = await fetchFile(server, `/api/runs/${id}/artifacts/types?part=${part}`)
        await response.arrayBuffer()
        return [response.headers.get('content-type'), response.headers.get('x')]
      }),
    )
    const unknown = ['application/octet-stream', null]
    expect(told).toEqual([unknown, unknown, unknown, unknown, unknown, ['text/plain; charset=utf-8', null]])
  })

  it('takes `data:` URLs, and leaves other addresses and what is no base64', async () => {
    const url = `https://files.example/${'x'.repeat(5000)}`
    const none = `${'_'.repeat(5000)}`
    const record = await makes(server, 'urls', [
      { type: 'image', made: { size: 5000 }, url: 'data:image/gif;base64,' },
      { type: 'image', data: url },
      { type: 'image', data: none },
    ])
    const at = `/api/runs/${record.id}/artifacts/urls`
    expect(record.result?.artifacts?.[0]?.parts).toEqual([
      { type: 'image', data: at, mimeType: 'image/gif' },
      { type: 'image', data: url },
      { type: 'image', data: none },
    ])
    expect(await bytesAt(server, at)).toEqual(bytesOf({ size: 5000 }))
    expect(await refusalAt(server, `${at}?part=1`)).toEqual([404, 'file_not_found'])
    expect(await refusalAt(server, `${at}?part=2`)).toEqual([404, 'file_not_found'])
  })

  it('leaves the files of a plain run in its answer', async () => {
    const parts = [{ type: 'file', made: { size: 5000 }, mimeType: 'a/b' }]
    const input = JSON.stringify([{ type: 'artifact', artifactId: 'a', parts }])
    const response = await fetch(`${server().url}/api/agents/says/run`, jsonRequest({ input }))
    const { artifacts, runId } = await response.json()
    expect(atob(artifacts[0].parts[0].data)).toHaveLength(5000)
    expect(await refusalAt(server, `/api/runs/${runId}/artifacts/a`)).toEqual([404, 'run_not_found'])
  })

  it.each([
    ['plain', false],
    ['stored', true],
  ])('keeps the files that a client sends to a %s run of a session', async (_, background) => {
    const [headers, sessionId] = [as(own('alice')), own('session')]
    const file = (size: number) =>
      ({ type: 'file', data: toBase64(bytesOf({ size, seed: 5 })), mimeType: 'a/b', filename: 'x' }) as const
    const input = [{ type: 'text', text: 'see' } as const, file(700_001), file(3)]
    const { id, text } = await sends(server, { input, sessionId, background }, headers)
    expect(text).toBe('700001,3')
    const address = `/api/runs/${id}/input?part=1`
    const [turn] = await turnsOf(server, sessionId, headers)
    expect(turn?.input).toEqual([input[0], { ...input[1], data: address }, input[2]])
    expectSame(await bytesAt(server, address, headers), bytesOf({ size: 700_001, seed: 5 }))
    const { headers: told } = await fetchFile(server, address, headers)
    expect([told.get('content-type'), told.get('content-disposition')]).toEqual([
      'a/b',
      `attachment; filename="x"; filename*=UTF-8''x`,
    ])
    const none = background ? 'file_not_found' : 'run_not_found'
    expect(await refusalAt(server, `/api/runs/${id}/input?part=2`, headers)).toEqual([404, none])
    for (const others of [as(own('bob')), {}])
      expect(await refusalAt(server, address, others)).toEqual([404, 'run_not_found'])
  })

  it('shows nobody the files of another owner, nor whether there are any', async () => {
    const [alice, bob] = [as(own('alice')), as(own('bob'))]
    const record = await makes(server, 'a', [{ type: 'image', made: { size: 5000 } }], alice)
    const address = addressIn(record)
    expect(await bytesAt(server, address, alice)).toHaveLength(5000)
    for (const path of [address, `${address}x`, `/api/runs/${record.id}/input`]) {
      expect(await refusalAt(server, path, bob)).toEqual([404, 'run_not_found'])
      expect(await refusalAt(server, path)).toEqual([404, 'run_not_found'])
    }
    for (const id of ['x', crypto.randomUUID()])
      expect(await refusalAt(server, `/api/runs/${id}/artifacts/a`, alice)).toEqual([404, 'run_not_found'])
    // A run without an owner is of everyone who knows its id.
    const open = await makes(server, 'a', [{ type: 'image', made: { size: 5000 } }])
    expect(await bytesAt(server, addressIn(open), alice)).toHaveLength(5000)
  })

  it('keeps the same bytes of two owners apart, however somebody asks', async () => {
    const [alice, bob] = [as(own('alice')), as(own('bob'))]
    const parts = [{ type: 'file', made: { size: 5000 }, mimeType: 'text/html', filename: 'page.html' }]
    const [hers, his] = [await makes(server, 'page', parts, alice), await makes(server, 'page', parts, bob)]
    const etag = (await fetchFile(server, addressIn(hers), alice)).headers.get('etag') ?? ''
    const ways: readonly [Record<string, string>, string, number][] = [
      [{}, 'GET', 200],
      [{}, 'HEAD', 200],
      [{ range: 'bytes=10-19' }, 'GET', 206],
      [{ 'if-none-match': etag }, 'GET', 304],
    ]
    for (const [headers, method, status] of ways) {
      const ask = async (address: string) => {
        const response = await fetchFile(server, address, { ...bob, ...headers }, method)
        await response.arrayBuffer()
        return response
      }
      expect((await ask(addressIn(his))).status).toBe(status)
      const refused = await ask(addressIn(hers))
      expect(refused.status).toBe(404)
      for (const name of ['etag', 'content-disposition', 'content-range', 'accept-ranges'])
        expect(refused.headers.get(name)).toBeNull()
      expect(refused.headers.get('content-type')).not.toBe('text/html')
    }
  })

  it('fails a run whose file is too large, or whose owner has too much', async () => {
    const file = (size: number, seed: number) => [{ type: 'file', made: { size, seed }, mimeType: 'a/b' }]
    const headers = as(own('full'))
    const large = await makes(server, 'large', file(5 * 1024 * 1024 + 1, 1), headers)
    expect([large.status, large.error?.code]).toEqual(['failed', 'run_too_large'])
    expect(await refusalAt(server, `/api/runs/${large.id}/artifacts/large`, headers)).toEqual([
      404,
      'file_not_found',
    ])
    expect((await makes(server, 'one', file(4_000_000, 1), headers)).status).toBe('completed')
    // The same file takes no more room.
    expect((await makes(server, 'one', file(4_000_000, 1), headers)).status).toBe('completed')
    const full = await makes(server, 'two', file(4_000_000, 2), headers)
    expect([full.status, full.error?.code]).toEqual(['failed', 'state_full'])
    expect((await makes(server, 'two', file(2_000_000, 2), headers)).status).toBe('completed')
    expect((await get(server, full.id, headers)).status).toBe('failed')
  })
}
