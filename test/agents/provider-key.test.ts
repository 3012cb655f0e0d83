import { describe, expect, it } from 'vitest'
import { optionsFor } from '../../src/agents/provider-key.ts'
import { selectKey } from '../../src/index.ts'

const keys = { 'provider-a': 'a', 'provider-b': 'b', '*': 'any' }

describe('selectKey', () => {
  it.each<[string | undefined, string]>([
    ['provider-a', 'a'],
    ['provider-b.chat', 'b'],
    ['provider-b.hosted.eu', 'b'],
    ['provider-z', 'any'],
    ['provider', 'any'],
    ['Provider-a', 'any'],
    ['', 'any'],
    ['*', 'any'],
    [undefined, 'any'],
    ['constructor', 'any'],
    ['__proto__', 'any'],
  ])('gives for the provider %s the key %s', (provider, key) => {
    expect(selectKey(provider, keys)).toBe(key)
  })

  it('gives no key of another provider', () => {
    expect(selectKey('provider-c', { 'provider-a': 'a' })).toBeUndefined()
    expect(selectKey(undefined, { 'provider-a': 'a' })).toBeUndefined()
    expect(selectKey('toString', {})).toBeUndefined()
  })

  it('gives none where there is none', () => {
    expect(selectKey('provider-a', undefined)).toBeUndefined()
  })
})

describe('optionsFor', () => {
  it('changes the key to that of the servable, and nothing else', () => {
    const options = { apiKey: 'outer', apiKeys: keys, sessionId: 's' }
    const model = { provider: 'provider-b.chat', id: 'm' }
    expect(optionsFor({ model }, options)).toEqual({ ...options, apiKey: 'b' })
    expect(options.apiKey).toBe('outer')
  })

  it('keeps the one key that there is', () => {
    const options = { apiKey: 'outer' }
    expect(optionsFor({ model: undefined }, options)).toBe(options)
  })
})
