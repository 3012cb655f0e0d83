import { describe, expect, it } from 'vitest'
import { type CorsSetting, createCors } from '../../src/web/cors.ts'

const APP = 'https://app.example.com'
const EVIL = 'https://evil.example.com'
const cors = (setting: CorsSetting) => createCors(setting, ['x-provider-a-api-key', 'x-api-key'])!

function marked(setting: CorsSetting, origin?: string): Headers {
  const headers = new Headers()
  cors(setting).mark(new Request('http://h/', { headers: origin === undefined ? {} : { origin } }), headers)
  return headers
}

const preflight = (headers: Record<string, string>, method = 'OPTIONS', setting: CorsSetting = true) =>
  cors(setting).preflight(new Request('http://h/', { method, headers }), ['OPTIONS', 'POST'])

const listOf = (headers: Headers, name: string) => headers.get(name)?.split(', ') ?? []

describe('createCors', () => {
  it('is nothing where CORS is off', () => {
    expect(createCors(false, [])).toBeUndefined()
  })

  it.each<[string, CorsSetting, string | undefined, string | null]>([
    ['any origin', true, APP, '*'],
    ['any origin', { origins: '*' }, APP, '*'],
    ['any origin, to a request without one', true, undefined, null],
    ['an origin of the list', [APP], APP, APP],
    ['an origin of the list', { origins: [EVIL, APP] }, APP, APP],
    ['no other origin', [APP], EVIL, null],
    ['no origin that only begins alike', [APP], `${APP}.evil.com`, null],
    ['no `null` origin', [APP], 'null', null],
    ['no origin for an empty list', [], APP, null],
    ['an origin that a function takes', { origins: origin => origin.endsWith('example.com') }, APP, APP],
    ['no origin that a function refuses', { origins: () => false }, APP, null],
    ['nobody without an origin', [APP], undefined, null],
  ])('allows %s', (_, setting, origin, expected) => {
    const headers = marked(setting, origin)
    expect(headers.get('access-control-allow-origin')).toBe(expected)
    expect(headers.has('access-control-expose-headers')).toBe(expected !== null)
    if (origin !== undefined) expect(cors(setting).allows(origin)).toBe(expected !== null)
  })

  it('says that responses differ by origin, unless they do not', () => {
    expect(marked([APP], APP).get('vary')).toBe('origin')
    expect(marked([APP], EVIL).get('vary')).toBe('origin')
    expect(marked([APP]).get('vary')).toBe('origin')
    expect(marked(true, APP).has('vary')).toBe(false)
  })

  it('keeps what a response says that it differs by', () => {
    const headers = new Headers({ vary: 'accept' })
    cors([APP]).mark(new Request('http://h/'), headers)
    expect(headers.get('vary')).toBe('accept, origin')
  })

  it('allows credentials only where it is told to, and only to who may call', () => {
    const setting = { origins: [APP], credentials: true }
    const header = 'access-control-allow-credentials'
    expect(marked(setting, APP).get(header)).toBe('true')
    expect(marked(setting, EVIL).has(header)).toBe(false)
    expect(marked([APP], APP).has(header)).toBe(false)
    expect(marked(true, APP).has(header)).toBe(false)
  })

  it('exposes the headers that a client needs, and those of the setting', () => {
    const exposed = listOf(
      marked({ origins: '*', exposedHeaders: ['x-own'] }, APP),
      'access-control-expose-headers',
    )
    const needed = [
      'x-run-id',
      'x-request-id',
      'location',
      'retry-after',
      'ratelimit',
      'ratelimit-policy',
      'content-disposition',
      'content-location',
      'x-pagination-total',
      'x-pagination-next',
      'x-error-code',
      'a2a-extensions',
      'x-a2a-extensions',
    ]
    expect(exposed).toEqual([...needed, 'x-own'])
  })
})

describe('a preflight', () => {
  const asked = { origin: APP, 'access-control-request-method': 'POST' }

  it('is answered with the methods of the path and the headers that are allowed', () => {
    const response = preflight(asked)!
    expect(response.status).toBe(204)
    expect(response.body).toBeNull()
    expect(listOf(response.headers, 'access-control-allow-methods')).toEqual(['OPTIONS', 'POST'])
    expect(response.headers.get('access-control-max-age')).toBe('600')
    expect(listOf(response.headers, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'idempotency-key',
        'last-event-id',
        'prefer',
        'a2a-version',
        'x-service-key',
        'traceparent',
        'x-provider-a-api-key',
        'x-api-key',
      ]),
    )
  })

  it('allows the headers of the setting, for ten minutes', () => {
    const { headers } = preflight(asked, 'OPTIONS', { origins: '*', allowedHeaders: ['x-own'] })!
    expect(listOf(headers, 'access-control-allow-headers')).toContain('x-own')
    expect(headers.get('access-control-max-age')).toBe('600')
  })

  it.each<[string, Record<string, string>, string]>([
    ['without an origin', { 'access-control-request-method': 'POST' }, 'OPTIONS'],
    ['that asks for no method', { origin: APP }, 'OPTIONS'],
    ['of another method', asked, 'POST'],
  ])('is no request %s', (_, headers, method) => {
    expect(preflight(headers, method)).toBeUndefined()
  })
})
