/** What the console takes from a page in a frame. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressIn,
  Flow,
  frameAddress,
  isSmall,
  messageIn,
  resultFor,
  textIn,
} from '../../../console/apps/messages.ts'

describe('a message of a page', () => {
  it('is a request or a notification of JSON-RPC', () => {
    expect(messageIn({ jsonrpc: '2.0', id: 1, method: 'ping' })).toEqual({
      id: 1,
      method: 'ping',
      params: {},
    })
    expect(messageIn({ jsonrpc: '2.0', method: 'x', params: { a: 1 }, more: 1 })).toEqual({
      method: 'x',
      params: { a: 1 },
    })
  })

  it.each([
    [undefined],
    [null],
    ['text'],
    [[]],
    [{ id: 1, method: 'ping' }],
    [{ jsonrpc: '1.0', method: 'ping' }],
    [{ jsonrpc: '2.0', id: 1 }],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }],
    [{ jsonrpc: '2.0', id: 'x'.repeat(101), method: 'ping' }],
    [{ jsonrpc: '2.0', method: 'x'.repeat(101) }],
    [{ jsonrpc: '2.0', method: 'ping', params: [] }],
    [{ jsonrpc: '2.0', method: 'ping', params: { at: new Date() } }],
    [{ jsonrpc: '2.0', method: 'ping', params: { of: new Map() } }],
    [{ jsonrpc: '2.0', method: 'ping', params: { big: 1n } }],
    [new Map([['jsonrpc', '2.0']])],
  ])('is nothing else: %s', data => {
    expect(messageIn(data)).toBeUndefined()
  })

  it('is small, in characters, in values, in names and in depth', () => {
    const circle: Record<string, unknown> = {}
    circle.of = { circle }
    let deep: unknown = []
    for (let depth = 0; depth < 6000; depth++) deep = [deep]
    const names = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${at}${'x'.repeat(3000)}`, 0]))
    const values = Array.from({ length: 300_000 }, () => 0)
    expect([circle, names, values, 'x'.repeat(300_000), new Array(2 ** 31)].map(isSmall)).toEqual(
      Array(5).fill(false),
    )
    expect([deep, {}, 'x'.repeat(200_000), [undefined, null, true, -0]].map(isSmall)).toEqual(
      Array(4).fill(true),
    )
    fc.assert(fc.property(fc.jsonValue(), value => isSmall(value)))
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (params, data) => {
        messageIn(data)
        const message = messageIn({ jsonrpc: '2.0', method: 'x', params })
        if (message === undefined) return
        addressIn(message.params)
        textIn(message.params)
      }),
    )
  })
})

it('counts messages: some are left out, and then it is too much, until time has gone by', () => {
  const flow = new Flow()
  const taken = (count: number, now: number) => Array.from({ length: count }, () => flow.take(now)).at(-1)
  expect([taken(100, 0), taken(1, 9999), taken(1899, 9999), taken(1, 9999)]).toEqual([
    'read',
    'skip',
    'skip',
    'close',
  ])
  expect(taken(1, 10_001)).toBe('read')
})

it.each([
  ['https://a.example/x?y#z', true],
  ['http://127.0.0.1:1/', true],
  ['javascript:alert(1)', false],
  [' javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['blob:https://a.example/1', false],
  ['file:///etc/passwd', false],
  ['//a.example', false],
  ['https://ada:secret@a.example', false],
  [`https://a.example/${'x'.repeat(2000)}`, false],
  [undefined, false],
])('opens %s: %s', (url, opens) => {
  expect(addressIn({ url }) !== undefined).toBe(opens)
})

it('takes text for the user, and nothing else', () => {
  const text = (text: unknown) => ({ type: 'text', text })
  expect(textIn({ role: 'user', content: [text('a'), text('b')] })).toBe('a\nb')
  for (const content of [
    [],
    [text(' ')],
    [text(7)],
    [text('a'), { type: 'image' }],
    'a',
    [text('x'.repeat(10_001))],
  ])
    expect(textIn({ role: 'user', content })).toBeUndefined()
  expect(textIn({ role: 'assistant', content: [text('a')] })).toBeUndefined()
})

it('gives a page results as MCP has them', () => {
  expect(resultFor('a')).toEqual({ content: [{ type: 'text', text: 'a' }] })
  expect(resultFor({ a: 1 })).toEqual({
    content: [{ type: 'text', text: '{"a":1}' }],
    structuredContent: { a: 1 },
  })
  expect(resultFor([1])).toEqual({ content: [{ type: 'text', text: '[1]' }] })
  expect(resultFor(null)).toEqual({ content: [{ type: 'text', text: 'null' }] })
  const whole = { content: [], structuredContent: { a: 1 } }
  expect(resultFor(whole)).toEqual(whole)
})

describe('the address of a frame', () => {
  const of = (base: string, ...connectDomains: string[]) =>
    new URL(frameAddress(base, { connectDomains })).searchParams.getAll('connect')

  it('names what the page may reach', () => {
    const origins = {
      connectDomains: ['wss://a.example'],
      resourceDomains: ['https://b.example'],
      frameDomains: ['https://*.c.example'],
    }
    expect(frameAddress('https://x.example/api', origins)).toBe(
      'https://x.example/api/console/frame?connect=wss%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example&frame=https%3A%2F%2F*.c.example',
    )
  })

  it('never names the service, in whatever form', () => {
    const service = ['https://X.example', 'http://x.example', 'wss://x.example:443', 'https://*.example']
    expect(of('https://x.example/api', ...service)).toEqual([])
    expect(of('http://127.0.0.1:8787/api', 'http://127.0.0.1:8787', 'ws://127.0.0.1:8787')).toEqual([])
    const others = ['https://y.example', 'https://x.example:8443', 'https://*.x.example']
    expect(of('https://x.example/api', ...others)).toEqual(others)
    expect(of('http://127.0.0.1:8787/api', 'http://127.0.0.1:3000')).toEqual(['http://127.0.0.1:3000'])
  })
})
