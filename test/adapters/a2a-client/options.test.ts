import { describe, expect, it } from 'vitest'
import { remoteAgent } from '../../../src/adapters/a2a-client/index.ts'
import { defaultRegistry, Registry } from '../../../src/index.ts'

const make = (options: object) => () => remoteAgent({ url: 'https://a.example', register: false, ...options })

describe('the options of a remote agent', () => {
  it('need an address alone, whose host is the name', () => {
    expect(make({ url: 'https://billing.example.com:8443/a2a' })()).toMatchObject({
      ...{ kind: 'agent', name: 'billing.example.com:8443', resume: true },
    })
  })

  it.each([
    [{ url: undefined }, 'url'],
    [{ url: 'billing' }, 'url'],
    [{ url: 'ftp://a.example' }, 'url'],
    [{ url: 'https://user:secret@a.example' }, 'url'],
    [{ name: '' }, 'name'],
    [{ headers: { authorization: 'x' } }, 'headers'],
    [{ origins: ['https://a.example/path'] }, 'origins.0'],
    [{ allow: 'localhost' }, 'allow'],
    [{ tenant: '' }, 'tenant'],
    [{ extensions: 'x' }, 'extensions'],
    [{ verify: true }, 'verify'],
    [{ maxBytes: 0 }, 'maxBytes'],
    [{ requestTimeoutMs: 2 ** 31 }, 'requestTimeoutMs'],
    [{ silenceMs: 1.5 }, 'silenceMs'],
    [{ fetch: 1 }, 'fetch'],
    [{ register: 'no' }, 'register'],
    [{ timeout: 1 }, 'timeout'],
  ])('are refused by name: %o', (options, field) => {
    const issue = { path: field, message: expect.stringMatching(/./) }
    expect(make(options)).toThrow(
      expect.objectContaining({ code: 'invalid_options', issues: [expect.objectContaining(issue)] }),
    )
  })

  it('repeat no secret of the address', () => {
    expect(make({ url: 'https://user:secret@a.example' })).not.toThrow(/secret/)
  })

  it('put the agent into a registry', () => {
    const registry = new Registry()
    const agent = remoteAgent({ url: 'https://a.example', name: 'own', register: registry })
    expect(registry.get('agent', 'own')).toBe(agent)
    expect(defaultRegistry().get('agent', 'own')).toBeUndefined()
    expect(remoteAgent({ url: 'https://a.example', name: 'common' })).toBe(
      defaultRegistry().get('agent', 'common'),
    )
    defaultRegistry().unregister('agent', 'common')
  })
})
