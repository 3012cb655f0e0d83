/** Files of runs, as the client gets them. */
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { bytesOf } from '../contracts/files/bytes.ts'
import { artifact, filePart, service } from '../features/files/kit.ts'
import { failure } from './kit.ts'

const { ask, run } = service(() => [
  {
    type: 'artifact',
    artifactId: 'a/b',
    name: 'Bericht ä.txt',
    parts: [{ type: 'text', text: 'x' }, filePart(5000)],
  },
  artifact('..', 6000, 1),
  { type: 'message', parts: [filePart(7000, 2)] },
])
const asked: string[] = []
const fetch = (request: Request) => {
  asked.push(request.url)
  return ask(request.url.slice('http://127.0.0.1'.length), { headers: request.headers })
}
const { runs } = createClient({ baseUrl: 'http://127.0.0.1/api', fetch })
const bytesIn = async (file: File) => new Uint8Array(await file.arrayBuffer())

describe('the client', () => {
  it('gets a part of an artifact, with its type and its name', async () => {
    const { id } = await run()
    const text = await runs.artifact(id, 'a/b')
    expect([await text.text(), text.name]).toEqual(['x', 'Bericht ä.txt'])
    const file = await runs.artifact(id, 'a/b', { part: 1 })
    expect([file.name, file.type]).toEqual(['Bericht ä.txt', 'a/b'])
    expect(await bytesIn(file)).toEqual(bytesOf({ size: 5000 }))
  })

  it('gets a file by the address that is its data, from its own service alone', async () => {
    const { id, result } = await run()
    const [, dots] = result?.artifacts ?? []
    const [part] = dots?.parts ?? []
    const address = part !== undefined && 'data' in part ? String(part.data) : ''
    expect(await bytesIn(await runs.file(address))).toEqual(bytesOf({ size: 6000, seed: 1 }))
    const message = await runs.file(`https://elsewhere.example/x/api/runs/${id}/messages/1`)
    expect(await bytesIn(message)).toEqual(bytesOf({ size: 7000, seed: 2 }))
    expect(asked.every(url => url.startsWith('http://127.0.0.1/api/runs/'))).toBe(true)
  })

  it('says why it gets none', async () => {
    const { id } = await run()
    const code = async (call: Promise<unknown>) => (await failure(call)).code
    expect(await code(runs.artifact(id, 'x'))).toBe('file_not_found')
    expect(await code(runs.artifact(crypto.randomUUID(), 'a/b'))).toBe('run_not_found')
    expect(await code(runs.artifact(id, '..'))).toBe('invalid_options')
    for (const data of ['', 'AAAA', 'https://a.example', `/runs/${id}`, 'x'.repeat(5_000_000)])
      expect(await code(runs.file(data))).toBe('invalid_options')
    const small = createClient({ baseUrl: 'http://127.0.0.1/api', fetch, maxLength: 4999 })
    expect(await code(small.runs.artifact(id, 'a/b', { part: 1 }))).toBe('invalid_response')
  })
})
