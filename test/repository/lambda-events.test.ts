/** Events of Lambda as requests, and responses as what Lambda reads. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, checkEvent, type HttpEvent, requestOf } from '../../src/runtimes/lambda/event.ts'
import { collect, headOf } from '../../src/runtimes/lambda/result.ts'

const { signal } = new AbortController()

/** An event of a function URL. */
const event = (more: HttpEvent & { readonly method?: string } = {}): HttpEvent => ({
  rawPath: '/api/health',
  rawQueryString: '',
  headers: { host: 'a.lambda-url.eu-north-1.on.aws' },
  requestContext: { http: { method: more.method ?? 'POST', sourceIp: '192.0.2.7' } },
  ...more,
})

/** An event of a REST API, or of a load balancer. */
const listed = (more: HttpEvent = {}): HttpEvent => ({
  httpMethod: 'GET',
  path: '/api/health',
  multiValueHeaders: { Host: ['api.example'] },
  requestContext: { identity: { sourceIp: '192.0.2.8' } },
  ...more,
})

const urlOf = (given: HttpEvent): URL => new URL(requestOf(given, signal).url)
const any = fc.string({ unit: 'binary', maxLength: 40 })

describe('an event', () => {
  it('is a request with its method, address, fields, cookies and body', async () => {
    const request = requestOf(
      event({
        rawQueryString: 'a=1&a=%C3%A9',
        cookies: ['one=1', 'two=2'],
        headers: { host: 'agents.example', 'x-forwarded-proto': 'https', accept: 'a,b' },
        body: '{"input":"é"}',
      }),
      signal,
    )
    expect(request.method).toBe('POST')
    expect(request.url).toBe('https://agents.example/api/health?a=1&a=%C3%A9')
    expect(Object.fromEntries(request.headers)).toEqual({
      accept: 'a,b',
      cookie: 'one=1; two=2',
      host: 'agents.example',
      'x-forwarded-proto': 'https',
    })
    expect(await request.text()).toBe('{"input":"é"}')
  })

  it('tells the address that AWS saw, not one that the client sent', () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    expect(addressOf(event({ headers }))).toBe('192.0.2.7')
    expect(addressOf(listed({ headers }))).toBe('192.0.2.8')
    expect(addressOf(listed({ headers, requestContext: { elb: {} } }))).toBeUndefined()
  })

  it('keeps every body, whatever its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async bytes => {
        const body = Buffer.from(bytes).toString('base64')
        const request = requestOf(event({ body, isBase64Encoded: true }), signal)
        expect(await request.bytes()).toEqual(bytes)
      }),
    )
  })

  it('has no path that changes its host or its query, decoded or not', () => {
    fc.assert(
      fc.property(any, any, (path, query) => {
        const url = urlOf(event({ rawPath: `/${path}`, rawQueryString: query.toWellFormed() }))
        expect(url.host).toBe('a.lambda-url.eu-north-1.on.aws')
        expect(url.hash).toBe('')
        expect(url.href.slice(url.origin.length).split('?')[0]).toBe(url.pathname)
        if (!/[.%/]/.test(path)) expect(decodeURIComponent(url.pathname)).toBe(`/${path.toWellFormed()}`)
      }),
    )
  })

  it('keeps a path that is encoded as it came', () => {
    fc.assert(
      fc.property(any, text => {
        const rawPath = `/a/${encodeURIComponent(text.toWellFormed()).replaceAll('.', '_')}`
        expect(urlOf(event({ rawPath })).pathname).toBe(rawPath)
      }),
    )
  })

  it('takes any header that bytes can be, and says so of others', () => {
    fc.assert(
      fc.property(any, any, (name, value) => {
        try {
          const { headers } = requestOf(event({ headers: { [name]: value } }), signal)
          const bytes = Buffer.from(headers.get(name) ?? '', 'latin1')
          expect([value.trim(), Buffer.from(value.trim(), 'latin1').toString('utf8')]).toContain(
            /^[\0-\xff]*$/.test(value) ? bytes.toString('latin1') : bytes.toString('utf8').trim(),
          )
        } catch (error) {
          if (error instanceof Error && 'code' in error) expect(error.code).toBe('invalid_header')
          else throw error
        }
      }),
    )
  })

  it.each(['x:99999', 'a b', '[::1', 'a@b', 'x/y', 'x?y', ''])(
    'leaves the host %j to the handler, at an address of its own',
    host => {
      const request = requestOf(event({ headers: { host } }), signal)
      expect(request.url).toBe('https://localhost/api/health')
      expect(request.headers.get('host')).toBe(host)
    },
  )

  it('needs little more than a method and a path', () => {
    const request = requestOf({ rawPath: '', requestContext: { http: { method: 'get' } }, body: 'x' }, signal)
    expect([request.method, request.url, request.body]).toEqual(['GET', 'https://localhost/', null])
  })

  it.each(['TRACE', 'connect', 'Track'])('cannot have the method %s', method => {
    expect(() => requestOf(event({ method }), signal)).toThrow(
      expect.objectContaining({ code: 'method_not_allowed' }),
    )
  })

  it.each([
    undefined,
    null,
    'text',
    {},
    { source: 'aws.events', 'detail-type': 'Scheduled Event' },
    { Records: [] },
    { requestContext: { http: {} } },
  ])('is refused if it is no HTTP request: %j', sent => {
    expect(() => checkEvent(sent)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})

describe('an event of a REST API or a load balancer', () => {
  it('has each value of a header and of the query once', () => {
    const given = listed({
      headers: { Host: 'api.example', 'X-Tag': 'two' },
      multiValueHeaders: { Host: ['api.example'], 'X-Tag': ['one', 'two'] },
      queryStringParameters: { q: 'b&c' },
      multiValueQueryStringParameters: { q: ['a', 'b&c'] },
    })
    expect(urlOf(given).href).toBe('https://api.example/api/health?q=a&q=b%26c')
    expect(requestOf(given, signal).headers.get('x-tag')).toBe('one, two')
  })

  it('has the query of a load balancer as it came', () => {
    const requestContext = { elb: {} }
    const headers = { host: 'a.example', 'x-forwarded-proto': 'http' }
    const queryStringParameters = { 'a%20b': 'c%26d' }
    const given = listed({ multiValueHeaders: null, headers, queryStringParameters, requestContext })
    expect(urlOf(given).href).toBe('http://a.example/api/health?a%20b=c%26d')
  })

  it('keeps every query that the API has decoded', () => {
    fc.assert(
      fc.property(fc.dictionary(any, fc.array(any)), lists => {
        const url = urlOf(listed({ multiValueQueryStringParameters: lists }))
        const pairs = Object.entries(lists).flatMap(([name, values]) =>
          values.map(value => [name.toWellFormed(), value.toWellFormed()]),
        )
        expect([...url.searchParams]).toEqual(pairs)
      }),
    )
  })
})

describe('a result', () => {
  it('has every body, whatever its bytes: as text where it is text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async bytes => {
        const result = await collect(new Response(bytes), false, signal)
        const encoding = result?.isBase64Encoded ? 'base64' : 'utf8'
        expect(new Uint8Array(Buffer.from(result?.body ?? '', encoding))).toEqual(bytes)
      }),
    )
    const texts = fc.string({ unit: 'grapheme' })
    await fc.assert(
      fc.asyncProperty(texts, async text => {
        const result = await collect(new Response(text), false, signal)
        expect(result).toMatchObject({ body: text.toWellFormed(), isBase64Encoded: false })
      }),
    )
  })

  it('has cookies apart, and as a list for who reads lists', () => {
    const headers = new Headers({ 'content-type': 'text/plain', vary: 'a, b' })
    for (const cookie of ['one=1; Path=/', 'two=2, 3']) headers.append('set-cookie', cookie)
    const response = new Response('x', { status: 418, headers })
    const head = {
      statusCode: 418,
      headers: { 'content-type': 'text/plain', vary: 'a, b' },
      cookies: ['one=1; Path=/', 'two=2, 3'],
    }
    expect(headOf(response, false)).toEqual(head)
    expect(headOf(response, true)).toEqual({
      ...head,
      multiValueHeaders: {
        'content-type': ['text/plain'],
        vary: ['a, b'],
        'set-cookie': ['one=1; Path=/', 'two=2, 3'],
      },
    })
  })

  it('is none of a body that is too large, which is not read further', async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(1_000_000))
      },
    })
    expect(await collect(new Response(body), false, signal)).toBeUndefined()
    expect(pulled).toBeLessThan(8)
  })
})
