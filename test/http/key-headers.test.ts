import { describe, expect, it } from 'vitest'
import { createKeyReader, DEFAULT_PROVIDERS, keyHeaders } from '../../src/http/security/key-headers.ts'
import { Agent, createHandler, selectKey } from '../../src/index.ts'

const read = createKeyReader(DEFAULT_PROVIDERS)

describe('createKeyReader', () => {
  it.each<[Record<string, string>, string | undefined, object | undefined]>([
    [{}, undefined, undefined],
    [{ 'x-provider-a-api-key': 'a' }, undefined, { 'provider-a': 'a' }],
    [{ 'X-Provider-B-Api-Key': 'b' }, undefined, { 'provider-b': 'b' }],
    [{ 'x-api-key': 'any' }, undefined, { '*': 'any' }],
    [{}, 'body', { '*': 'body' }],
    [{ 'x-api-key': 'any' }, 'body', { '*': 'any' }],
    [{ 'x-api-key': '' }, 'body', { '*': 'body' }],
    [{ 'x-provider-a-api-key': '' }, undefined, undefined],
    [{ 'x-provider-c-api-key': 'c' }, 'body', { 'provider-c': 'c', '*': 'body' }],
    [{ authorization: 'Bearer x', cookie: 'y' }, undefined, undefined],
    [
      {
        'x-provider-a-api-key': 'a',
        'x-provider-b-api-key': 'b',
        'x-provider-c-api-key': 'c',
        'x-api-key': 'any',
      },
      'body',
      { 'provider-a': 'a', 'provider-b': 'b', 'provider-c': 'c', '*': 'any' },
    ],
  ])('reads from %j and the body key %s: %j', (headers, bodyKey, expected) => {
    expect(read(new Headers(headers), bodyKey)).toEqual(expected)
  })

  it("reads a deployment's own header, for every name that it matches", () => {
    const own = { openai: { header: 'X-OpenAI-Api-Key', matches: ['openai', 'azure-openai'] } }
    const keys = createKeyReader(own)(new Headers({ 'x-openai-api-key': 'o' }), undefined)
    expect(keys).toEqual({ openai: 'o', 'azure-openai': 'o' })
    expect(selectKey('azure-openai.chat', keys)).toBe('o')
  })
})

describe('keyHeaders', () => {
  it('names every header that can hold a key, in small letters', () => {
    expect(keyHeaders({ own: { header: 'X-Own-Key', matches: [] } })).toEqual(['x-own-key', 'x-api-key'])
    expect(keyHeaders(DEFAULT_PROVIDERS)).toEqual([
      'x-provider-a-api-key',
      'x-provider-b-api-key',
      'x-provider-c-api-key',
      'x-api-key',
    ])
  })
})

describe('the selection priority of the specification', () => {
  const model = { provider: 'provider-b.chat', id: 'm' }
  const agent = new Agent({
    name: 'a',
    register: false,
    model,
    run: (_, { apiKey }) => ({ structured: { apiKey } }),
  })
  const handler = createHandler({ registry: false, agents: { a: agent } })

  const keyFor = async (headers: Record<string, string>, apiKey?: string) => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
    const body = JSON.stringify({ input: 'hi', apiKey })
    const response = await handler(new Request('http://h/api/agents/a/run', { ...init, body }))
    return (await response.json()).structured.apiKey
  }

  it('1: the header of the provider of the model', async () => {
    const headers = { 'x-provider-a-api-key': 'a', 'x-provider-b-api-key': 'b', 'x-api-key': 'any' }
    expect(await keyFor(headers, 'body')).toBe('b')
  })

  it('2: else the header for any provider', async () => {
    expect(await keyFor({ 'x-provider-a-api-key': 'a', 'x-api-key': 'any' }, 'body')).toBe('any')
  })

  it('3: else the key in the body', async () => {
    expect(await keyFor({ 'x-provider-a-api-key': 'a' }, 'body')).toBe('body')
  })

  it('and none where there is none for it', async () => {
    expect(await keyFor({ 'x-provider-a-api-key': 'a' })).toBeUndefined()
  })
})
