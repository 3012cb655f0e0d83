import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Route } from '../../src/http/context.ts'
import { createMatcher, joinPath, pathnameOf, queryOf } from '../../src/http/router.ts'

const endpoint = () => new Response()
const route = (method: Route['method'], path: string): Route => ({ method, path, part: 'router', endpoint })

/** What a request leads to, told as text. */
function find(routes: readonly Route[], method: string, path: string) {
  const match = createMatcher(routes)(method, path)
  if (match === undefined) return 'nothing'
  if (match.found === 'path') return `405 ${match.allow}`
  return `${match.route.method} ${match.route.path} ${JSON.stringify(match.params)}`
}

const routes = [
  route('GET', '/api/agents'),
  route('POST', '/api/agents/:name/run'),
  route('GET', '/api/agents/:name/run'),
  route('DELETE', '/api/runs/:id'),
]

describe('createMatcher', () => {
  it.each([
    ['GET', '/api/agents', 'GET /api/agents {}'],
    ['HEAD', '/api/agents', 'GET /api/agents {}'],
    ['GET', '/api/agents/', 'GET /api/agents {}'],
    ['GET', '/api/agents//', 'GET /api/agents {}'],
    ['POST', '/api/agents/echo/run', 'POST /api/agents/:name/run {"name":"echo"}'],
    ['POST', '/api/agents/echo/run/', 'POST /api/agents/:name/run {"name":"echo"}'],
    ['GET', '/api/agents/echo/run', 'GET /api/agents/:name/run {"name":"echo"}'],
    ['DELETE', '/api/runs/1', 'DELETE /api/runs/:id {"id":"1"}'],
    ['GET', '/', 'nothing'],
    ['GET', '/api', 'nothing'],
    ['GET', '/api/agentsx', 'nothing'],
    ['GET', '/x/api/agents', 'nothing'],
    ['GET', '/API/agents', 'nothing'],
    ['POST', '/api/agents/run', 'nothing'],
    ['POST', '/api/agents//run', 'nothing'],
    ['POST', '/api/agents/a/b/run', 'nothing'],
  ])('leads %s %s to %s', (method, path, expected) => {
    expect(find(routes, method, path)).toBe(expected)
  })

  it.each([
    ['POST', '/api/agents', '405 GET,HEAD,OPTIONS'],
    ['OPTIONS', '/api/agents', '405 GET,HEAD,OPTIONS'],
    ['get', '/api/agents', '405 GET,HEAD,OPTIONS'],
    ['PUT', '/api/agents/echo/run', '405 GET,HEAD,OPTIONS,POST'],
    ['HEAD', '/api/runs/1', '405 DELETE,OPTIONS'],
  ])('tells for %s %s which methods there are: %s', (method, path, expected) => {
    expect(find(routes, method, path)).toBe(expected)
  })

  it('prefers the earlier of two routes', () => {
    const both = [route('GET', '/a/:any'), route('GET', '/a/b')]
    expect(find(both, 'GET', '/a/b')).toBe('GET /a/:any {"any":"b"}')
    expect(find(both.toReversed(), 'GET', '/a/b')).toBe('GET /a/b {}')
  })

  it('goes on to a later route that has the method', () => {
    const both = [route('POST', '/a/:any'), route('GET', '/a/b')]
    expect(find(both, 'GET', '/a/b')).toBe('GET /a/b {}')
  })

  it('takes a dot in a path as a dot', () => {
    const dotted = [route('GET', '/v1.0/agent.json')]
    expect(find(dotted, 'GET', '/v1.0/agent.json')).toContain('GET')
    expect(find(dotted, 'GET', '/v1x0/agent.json')).toBe('nothing')
  })

  it.each([
    ['a%2Fb', 'a/b'],
    ['%00', '\0'],
    ['%C3%A9', 'é'],
    ['a%20b+c', 'a b+c'],
    ['%2e%2e', '..'],
    ['%252F', '%2F'],
    ['__proto__', '__proto__'],
    ['a.b', 'a.b'],
    ['a@b;c=d', 'a@b;c=d'],
  ])('decodes the parameter %s', (encoded, name) => {
    const match = createMatcher(routes)('POST', `/api/agents/${encoded}/run`)
    expect(match).toMatchObject({ found: 'route', params: { name } })
  })

  it('gives any name back that was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), name => {
        fc.pre(name !== '.' && name !== '..')
        const path = pathnameOf(new URL(`http://h/api/agents/${encodeURIComponent(name)}/run`).href)
        expect(createMatcher(routes)('POST', path)).toMatchObject({ params: { name } })
      }),
    )
  })

  it.each(['%', '%2', '%zz', '%C3', '%FF', 'a%E0%A4%A'])('refuses the broken encoding %s', name => {
    expect(createMatcher(routes)('POST', `/api/agents/${name}/run`)).toMatchObject({
      found: 'route',
      error: { code: 'invalid_path', message: expect.stringContaining('`name`') },
    })
  })

  it('answers a long path of nonsense at once', () => {
    const long = `/api/agents/${'/'.repeat(50_000)}x`
    expect(find(routes, 'POST', long)).toBe('nothing')
  })
})

describe('pathnameOf', () => {
  it.each([
    ['http://h', '/'],
    ['http://h/', '/'],
    ['http://h:1/a/b', '/a/b'],
    ['http://h/a?b=/c', '/a'],
    ['http://h/a#/b', '/a'],
    ['http://h/a/?b', '/a/'],
    ['http://u:p@h/a', '/a'],
    ['http://[::1]:1/a', '/a'],
    ['http://h//a', '//a'],
  ])('gives of %s the path %s', (url, path) => {
    expect(pathnameOf(url)).toBe(path)
  })

  it('agrees with `URL`', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), url => {
        const { href, pathname } = new URL(url)
        expect(pathnameOf(href)).toBe(pathname)
      }),
    )
  })
})

describe('queryOf', () => {
  it('is what the URL parser finds', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), url => {
        const { href, searchParams } = new URL(url)
        expect([...queryOf(href)]).toEqual([...searchParams])
      }),
    )
  })

  it.each(['http://h/', 'http://h/?', 'http://h/??a=1', 'http://h/?a=1&a=%20#b?c=2', 'http://h/#?a=1'])(
    'reads %s as the URL parser does',
    url => {
      expect([...queryOf(url)]).toEqual([...new URL(url).searchParams])
    },
  )
})

describe('joinPath', () => {
  it.each([
    [['/api', 'agents'], '/api/agents'],
    [['/api/', '/agents/'], '/api/agents'],
    [['', 'agents'], '/agents'],
    [['/', 'agents'], '/agents'],
    [['api'], '/api'],
    [['/'], '/'],
    [[], '/'],
    [['/a2a', '', 'x'], '/a2a/x'],
    [['//a//b//'], '/a/b'],
  ])('joins %j to %s', (segments, path) => {
    expect(joinPath(...segments)).toBe(path)
  })

  it('begins with one slash, ends with none and has no two in a row', () => {
    const segment = fc.string({ unit: fc.constantFrom('a', 'b', '/', ':', '.') })
    fc.assert(
      fc.property(fc.array(segment), segments => {
        const path = joinPath(...segments)
        expect(path).toMatch(/^\/([^/]+(\/[^/]+)*)?$/)
        expect(joinPath(path)).toBe(path)
        expect(path.split('/').filter(Boolean)).toEqual(segments.join('/').split('/').filter(Boolean))
      }),
    )
  })
})
