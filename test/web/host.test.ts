import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAddressed, isHost } from '../../src/web/host.ts'
import { NO_HOSTS } from '../contracts/http/hosts.ts'

/** A request as a runtime may make it: `Host` and the address as they came, not parsed. */
const asked = (host: string | null, url: string) =>
  ({ url, headers: { get: () => host } }) as unknown as Request

describe('isHost', () => {
  it.each([
    'x',
    'x:',
    'x:80',
    'agents.example.',
    'a_b:1',
    '127.0.0.1:3000',
    '[::1]',
    '[::1]:80',
    'xn--bcher-kva.example',
  ])('takes %s', host => expect(isHost(host)).toBe(true))

  it.each([...NO_HOSTS, '', 'x:65536', '[::g]', 'a, b', 'a,b', '日', '<x>'])('does not take %j', host =>
    expect(isHost(host)).toBe(false),
  )
})

describe('isAddressed', () => {
  it('takes what runtimes make of a host, and of none', () => {
    expect(isAddressed(asked('x:1', 'http://x:1/a?b'))).toBe(true)
    expect(isAddressed(asked(null, 'https://x/'))).toBe(true)
    expect(isAddressed(asked('', 'http://127.0.0.1:3000/'))).toBe(true)
    expect(isAddressed(new Request('http://x'))).toBe(true)
    expect(isAddressed(asked('x', 'http+unix://x/a'))).toBe(true)
  })

  it.each([
    [null, '/a'],
    ['x', '/a'],
    [null, 'http://x?/a'],
    [null, 'http://x#/a'],
    [null, 'http://x\\y/a'],
    [null, 'http://a@b/a'],
    [null, 'http://x*'],
    [null, 'http://x:99999/a'],
    ['x?', 'http://x?/a'],
    ['x/y', 'http://x/y/a'],
    ['a, b', 'http://a/a'],
    ['x:99999', 'http://x/a'],
  ])('does not take `Host: %s` at %s', (host, url) => {
    expect(isAddressed(asked(host, url))).toBe(false)
  })

  it('takes no host that moves the path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), host => {
        const url = `http://${host}/api/agents?q`
        if (!isAddressed(asked(host, url))) return
        const { pathname, search, username } = new URL(url)
        expect([pathname, search, username]).toEqual(['/api/agents', '?q', ''])
      }),
      { numRuns: 2000 },
    )
  })
})
