/** Which revision a request is of, and the headers that repeat what its body says. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { capabilitiesOf, checkHeader, checkParamHeaders } from '../../../src/protocols/mcp/era.ts'
import { RpcError } from '../../../src/protocols/mcp/rpc.ts'
import { toBase64 } from '../../../src/web/base64.ts'
import { codePoint } from '../../code-point.ts'
import { speaker } from '../../support.ts'
import { CAPABILITIES, serve, VERSION } from './calling.ts'

/** The value of a header as clients write it: as it is, or as base64 where no header can hold it. */
function encoded(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return isPlain ? text : inBase64(text)
}

const inBase64 = (text: string) => `=?base64?${toBase64(new TextEncoder().encode(text))}?=`

function codeOf(check: () => unknown): number | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(RpcError)
    return (error as RpcError).code
  }
}

const headerCode = (header: string | undefined, value: unknown) =>
  codeOf(() =>
    checkHeader(new Headers(header === undefined ? {} : { 'Mcp-Name': header }), 'Mcp-Name', value),
  )

describe('a header that repeats a value', () => {
  it('is taken for any text', () => {
    const texts = fc.oneof(fc.string({ unit: codePoint }), fc.string(), fc.string({ unit: 'grapheme-ascii' }))
    fc.assert(
      fc.property(texts, text => {
        expect(headerCode(encoded(text), text)).toBeUndefined()
        expect(headerCode(inBase64(text), text)).toBeUndefined()
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused for any other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.string({ unit: codePoint }), (text, other) => {
        fc.pre(text !== other)
        expect(headerCode(encoded(other), text)).toBe(-32020)
      }),
      { numRuns: 1000 },
    )
  })

  it('is nothing that breaks the check, whatever bytes it has', () => {
    const bytes = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map(code => String.fromCharCode(code)),
    })
    fc.assert(
      fc.property(bytes, bytes, (header, text) => {
        for (const value of [header, `=?base64?${header}?=`])
          expect([undefined, -32020]).toContain(headerCode(value, text))
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['\uFEFFecho', inBase64('\uFEFFecho')],
    ['=?base64?eA==?=', inBase64('=?base64?eA==?=')],
    ['', '=?base64??='],
    ['', ''],
    ['a  b', 'a  b'],
    [' a ', inBase64(' a ')],
    ['a', '  a\t'],
  ])('says %j', (text, header) => {
    expect(headerCode(header, text)).toBeUndefined()
  })

  it.each([
    ['echo', undefined],
    ['echo', ''],
    ['echo', 'Echo'],
    ['echo', '=?base64?ZWNobw?='],
    ['echo', '=?base64?ZWNobw==='],
    ['echo', '=?base64?%%%%?='],
    ['echo', '=?utf-8?ZWNobw==?='],
    ['=?base64?eA==?=', '=?base64?eA==?='],
    [undefined, undefined],
    [undefined, 'undefined'],
    [undefined, ''],
    [null, undefined],
    [{}, '[object Object]'],
    [['a'], 'a'],
    [{ toString: 1, valueOf: 1 }, 'x'],
  ])('does not say %j with %j', (value, header) => {
    expect(headerCode(header, value)).toBe(-32020)
  })
})

describe('the headers of arguments', () => {
  const schema = (...names: string[]) => ({
    properties: Object.fromEntries(
      names.map(name => [name, { type: 'string', 'x-mcp-header': `H-${name}` }]),
    ),
  })
  const check = (properties: object, args: unknown, headers: Record<string, string> = {}) =>
    codeOf(() => checkParamHeaders(new Headers(headers), properties as never, args as never))

  it.each([
    ['eu', 'eu'],
    [7, '7'],
    [-0.5, '-0.5'],
    [1e21, '1e+21'],
    [0, '0'],
    [true, 'true'],
    [false, 'false'],
    ['é', inBase64('é')],
    ['', ''],
  ])('say %j', (value, header) => {
    expect(check(schema('a'), { a: value }, { 'mcp-param-h-a': header })).toBeUndefined()
    expect(check(schema('a'), { a: value }, { 'mcp-param-h-a': 'other' })).toBe(-32020)
    expect(check(schema('a'), { a: value })).toBe(-32020)
  })

  it('may be absent where the argument is absent or null, and only then', () => {
    for (const args of [{}, { a: null }, { a: undefined }]) {
      expect(check(schema('a'), args)).toBeUndefined()
      for (const header of ['x', '', 'null', 'undefined'])
        expect(check(schema('a'), args, { 'mcp-param-h-a': header })).toBe(-32020)
    }
  })

  it('of arguments that every object seems to have are those of none', () => {
    const names = ['toString', 'constructor', 'hasOwnProperty', 'valueOf']
    expect(check(schema(...names), {})).toBeUndefined()
    for (const name of names)
      expect(check(schema(name), { [name]: 'x' }, { [`mcp-param-h-${name}`]: 'x' })).toBeUndefined()
    const own = JSON.parse('{"properties":{"__proto__":{"x-mcp-header":"P"}}}')
    expect(check(own, {})).toBeUndefined()
    expect(check(own, JSON.parse('{"__proto__":"x"}'), { 'mcp-param-p': 'x' })).toBeUndefined()
    expect(check(own, JSON.parse('{"__proto__":"x"}'))).toBe(-32020)
  })

  it('are those that a schema marks', () => {
    for (const properties of [
      undefined,
      null,
      'x',
      [],
      { a: null },
      { a: true },
      { a: { 'x-mcp-header': 7 } },
    ])
      expect(check({ properties }, { a: 'x' }, { 'mcp-param-a': 'y' })).toBeUndefined()
    expect(check({}, { a: 'x' })).toBeUndefined()
  })

  it('are checked at a call', async () => {
    const input = {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    }
    const served = serve({ tools: [{ of: 'echo', input }] }, { agents: { echo: speaker('echo', 'hi') } })
    const codes = await Promise.all(
      [{ 'mcp-param-region': 'eu' }, { 'mcp-param-region': 'us' }, {}].map(async headers => {
        const { status, error } = await served.call('echo', { region: 'eu' }, { headers })
        return [status, error?.code]
      }),
    )
    expect(codes).toEqual([
      [200, undefined],
      [400, -32020],
      [400, -32020],
    ])
    // Revisions before have no such headers.
    const { result } = await served.askLegacy('tools/call', {
      name: 'echo',
      arguments: { region: 'eu' },
    })
    expect(result.content[0].text).toBe('hi')
  })
})

describe('the revision of a request', () => {
  const eraOf = (
    method: string,
    version: unknown,
    headers: Record<string, string>,
    capabilities: unknown = {},
  ) => {
    const _meta = { [VERSION]: version, [CAPABILITIES]: capabilities }
    const request = new Request('http://h/mcp', { headers })
    return codeOf(() => {
      if (capabilitiesOf(request, { method, params: { _meta } }) === undefined)
        throw new RpcError(0, 'earlier')
    })
  }
  const modern = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  }

  it.each([
    ['of the newest', 'tools/list', '2026-07-28', modern, undefined],
    ['with no header of it', 'tools/list', '2026-07-28', {}, -32020],
    [
      'with another header',
      'tools/list',
      '2026-07-28',
      { ...modern, 'mcp-protocol-version': '2025-11-25' },
      -32020,
    ],
    ['of another method', 'tools/list', '2026-07-28', { ...modern, 'mcp-method': 'tools/call' }, -32020],
    ['without its method', 'tools/list', '2026-07-28', { 'mcp-protocol-version': '2026-07-28' }, -32020],
    ['of the future', 'tools/list', '2099-01-01', { 'mcp-protocol-version': '2099-01-01' }, -32022],
    [
      'of an earlier one in the new form',
      'tools/list',
      '2025-11-25',
      { 'mcp-protocol-version': '2025-11-25' },
      -32022,
    ],
    ['of no text', 'tools/list', 7, modern, -32602],
    ['that its body does not say', 'tools/list', undefined, modern, -32602],
    ['that nobody knows', 'tools/list', undefined, { 'mcp-protocol-version': 'x' }, -32602],
    ['that nobody says', 'tools/list', undefined, {}, 0],
    ['that nobody says, of a method of the newest', 'server/discover', undefined, {}, -32602],
    ['of an earlier one', 'tools/list', undefined, { 'mcp-protocol-version': '2025-06-18' }, 0],
    ['of the earliest', 'tools/list', undefined, { 'mcp-protocol-version': '2025-03-26' }, 0],
  ] as const)('%s', (_, method, version, headers, expected) => {
    expect(eraOf(method, version, headers)).toBe(expected)
  })

  it('needs to say what its client can do', () => {
    for (const capabilities of [undefined, null, [], 'x', 1])
      expect(eraOf('tools/list', '2026-07-28', modern, capabilities ?? null)).toBe(-32602)
  })

  it('is told to clients of another one', async () => {
    const headers = { 'mcp-protocol-version': '1' }
    const { status, error } = await serve().ask('server/discover', {}, { headers, meta: { [VERSION]: '1' } })
    expect([status, error.code, error.data]).toEqual([
      400,
      -32022,
      { supported: ['2026-07-28'], requested: '1' },
    ])
  })

  it('is agreed on as a session begins', async () => {
    const { askLegacy } = serve()
    for (const [asked, agreed] of [
      ['2025-03-26', '2025-03-26'],
      ['2025-06-18', '2025-06-18'],
      ['2025-11-25', '2025-11-25'],
      ['2024-11-05', '2025-11-25'],
      ['2026-07-28', '2025-11-25'],
      ['__proto__', '2025-11-25'],
      [undefined, '2025-11-25'],
      [{}, '2025-11-25'],
    ])
      expect((await askLegacy('initialize', { protocolVersion: asked })).result.protocolVersion).toBe(agreed)
  })

  it('gives each session an id of its own', async () => {
    const { askLegacy } = serve()
    const idOf = async (capabilities?: unknown) =>
      (
        await askLegacy('initialize', {
          protocolVersion: '2025-11-25',
          capabilities,
        })
      ).headers.get('mcp-session-id')
    const ids = await Promise.all([idOf(), idOf(), idOf(null), idOf([]), idOf({ elicitation: {} })])
    expect(new Set(ids).size).toBe(5)
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]+$/)
  })
})
