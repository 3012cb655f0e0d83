import { describe, expect, it } from 'vitest'
import { keptOf, withTenant } from '../../../../src/http/platform.ts'
import { readSessionData } from '../../../../src/protocols/event-socket/gateway/session-data.ts'

describe('readSessionData', () => {
  it.each([
    ['nothing', {}],
    ['an identity with scopes', { identity: { id: 'ann', scopes: ['runs'], name: 'Ann' } }],
    ['a user of a tenant', { identity: { id: 'acme›ann', tenant: 'acme', roles: ['viewer'] } }],
    ['all', { identity: { id: 'a' }, apiKey: 'k', private: { pid: 'p', id: 'i', generation: 2 }, begun: 3 }],
  ])('gives back %s', (_, data) => {
    expect(readSessionData(structuredClone(data))).toEqual(data)
  })

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['text', 'ann'],
    ['a list', []],
    ['what admission wraps', { data: { identity: { id: 'ann' } } }],
    ['an identity without an id', { identity: {} }],
    ['an identity that is empty', { identity: { id: '' } }],
    ['an identity of another tenant', { identity: { id: 'acme›ann', tenant: 'umbrella' } }],
    ['an identity whose tenant is missing', { identity: { id: 'acme›ann' } }],
    ['an identity that is undefined', { identity: undefined }],
    ['a key that is no text', { apiKey: 1 }],
    ['half of a private id', { private: { pid: 'p' } }],
  ])('throws for %s: it is nobody, not a client without an identity', (_, kept) => {
    expect(() => readSessionData(kept)).toThrow(expect.objectContaining({ code: 'internal_error' }))
  })

  it('gives back what is kept of a user of a tenant', () => {
    const identity = keptOf(withTenant({ id: 'ann', tenant: 'acme' }))
    const sent = JSON.parse(JSON.stringify({ identity }))
    expect(readSessionData(sent)).toEqual({ identity: { id: 'acme›ann', tenant: 'acme' } })
    expect(keptOf(sent.identity).id).toBe('acme›ann')
  })

  it('repeats nothing of what was kept', () => {
    const kept = { apiKey: ['sk-secret'], 'sk-secret': 'sk-secret' }
    expect(() => readSessionData(kept)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk-secret') }),
    )
  })
})
