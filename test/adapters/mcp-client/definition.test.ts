import { describe, expect, it } from 'vitest'
import {
  parseDefinition,
  reachOf,
  type ServerAccess,
  secretsOf,
  shownOf,
} from '../../../src/adapters/mcp-client/definition.ts'

const http = { name: 'weather', transport: 'http', url: 'https://tools.example.com/mcp' }
const program = { name: 'files', transport: 'stdio', command: 'mcp-files' }

const wrongOf = (body: unknown) => {
  try {
    parseDefinition(body)
    return 'nothing'
  } catch (error) {
    const { code, issues, message } = error as { code: string; issues: { path: string }[]; message: string }
    return { code, paths: issues.map(({ path }) => path), message }
  }
}

describe('parseDefinition', () => {
  it.each([
    http,
    {
      ...http,
      transport: 'sse',
      headers: { authorization: 'Bearer abc', 'x-team': 'größe' },
      autoConnect: false,
    },
    { ...http, needsApproval: true },
    { ...http, needsApproval: ['forecast', 'a-b.c'] },
    { ...program, args: ['--root', '/srv'], env: { API_KEY: 'abc' } },
  ])('takes %j', body => {
    expect(parseDefinition(body)).toEqual(body)
  })

  it.each([
    [undefined, ''],
    [null, ''],
    [[http], ''],
    ['text', ''],
    [{ ...http, name: undefined }, 'name'],
    [{ ...http, name: '' }, 'name'],
    [{ ...http, name: 'with.dot' }, 'name'],
    [{ ...http, name: '__proto__' }, 'name'],
    [{ ...http, name: 'a'.repeat(65) }, 'name'],
    [{ ...http, name: 'line\nbreak' }, 'name'],
    [{ ...http, transport: 'ws' }, 'transport'],
    [{ ...http, needsApproval: 'forecast' }, 'needsApproval'],
    [{ ...http, needsApproval: [7] }, 'needsApproval.0'],
    [{ ...http, needsApproval: Array.from({ length: 1001 }, () => 'a') }, 'needsApproval'],
    [{ ...http, url: undefined }, 'url'],
    [{ ...http, url: '/mcp' }, 'url'],
    [{ ...http, url: `https://example.com/${'a'.repeat(2048)}` }, 'url'],
    [{ ...http, command: 'sh' }, 'command'],
    [{ ...http, headers: { 'bad name': 'x' } }, 'headers.bad name'],
    [{ ...http, headers: { host: 'x' } }, 'headers.host'],
    [{ ...http, headers: { 'Mcp-Session-Id': 'x' } }, 'headers.Mcp-Session-Id'],
    [{ ...http, headers: { 'transfer-encoding': 'chunked' } }, 'headers.transfer-encoding'],
    [{ ...http, headers: { a: 'x\r\ny: z' } }, 'headers.a'],
    [{ ...http, headers: { a: 'snow ☃' } }, 'headers.a'],
    [{ ...http, headers: { a: 7 } }, 'headers.a'],
    [{ ...http, headers: 'authorization: x' }, 'headers'],
    [
      { ...http, headers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`a${i}`, 'x'])) },
      'headers',
    ],
    [{ ...http, header: {} }, 'header'],
    [{ ...program, command: undefined }, 'command'],
    [{ ...program, command: '' }, 'command'],
    [{ ...program, url: http.url }, 'url'],
    [{ ...program, args: 'all in one' }, 'args'],
    [{ ...program, args: ['a\0b'] }, 'args.0'],
    [{ ...program, env: { 'A-B': 'x' } }, 'env.A-B'],
    [{ ...program, env: { LD_PRELOAD: '/tmp/x.so' } }, 'env.LD_PRELOAD'],
    [{ ...program, env: { Path: '/tmp' } }, 'env.Path'],
    [{ ...program, env: { NODE_OPTIONS: '--require=/tmp/x' } }, 'env.NODE_OPTIONS'],
    [{ ...program, autoConnect: 'yes' }, 'autoConnect'],
  ])('refuses %j and names the field', (body, path) => {
    expect(wrongOf(body)).toMatchObject({ code: 'invalid_body', paths: path === '' ? [] : [path] })
  })

  it('repeats no value', () => {
    const told = wrongOf({ ...http, headers: { authorization: 'Bearer sk-very-secret\r\nx: y' } })
    expect(JSON.stringify(told)).not.toContain('sk-very-secret')
  })
})

describe('shownOf', () => {
  it('shows no value of a query, no fragment, no argument and no variable', () => {
    const reach = reachOf(
      parseDefinition({ ...http, url: 'https://t.example/mcp?key=sk-1234567&a=1&key=sk-7654321#frag' }),
    )
    expect(shownOf(reach)).toEqual({
      transport: 'http',
      url: 'https://t.example/mcp?key=***&a=***&key=***',
      command: null,
    })
    const bare = { ...http, url: 'https://t.example/mcp/0123456789abcdef01?sk-BAREKEY' }
    expect(shownOf(reachOf(parseDefinition(bare))).url).toBe('https://t.example/mcp/***?***')
    const started = reachOf(parseDefinition({ ...program, args: ['--token=abc'], env: { A: 'b' } }))
    expect(shownOf(started)).toEqual({ transport: 'stdio', url: null, command: 'mcp-files' })
  })
})

describe('secretsOf', () => {
  const http = (more: Partial<Extract<ServerAccess, { transport: 'http' | 'sse' }>>): ServerAccess => ({
    transport: 'http',
    url: 'https://t.example/',
    headers: {},
    ...more,
  })
  const program = (more: Partial<Extract<ServerAccess, { transport: 'stdio' }>>): ServerAccess => ({
    transport: 'stdio',
    command: 'x',
    args: [],
    env: {},
    ...more,
  })

  it.each<[string, ServerAccess, string[]]>([
    [
      'credentials',
      http({ headers: { authorization: 'Bearer sk-abcdefg' } }),
      ['Bearer sk-abcdefg', 'sk-abcdefg'],
    ],
    [
      'cookies',
      http({ headers: { cookie: 'sid=abcdefgh; lang=en' } }),
      ['sid=abcdefgh; lang=en', 'abcdefgh'],
    ],
    ['a key in the query', http({ url: 'https://t.example/?key=abcdef1&page=12345678' }), ['abcdef1']],
    [
      'a token in the path',
      http({ url: 'https://t.example/mcp/0123456789abcdef01/x' }),
      ['0123456789abcdef01'],
    ],
    ['by its looks', http({ headers: { 'x-team': 'f3a9c2d17b8e4605' } }), ['f3a9c2d17b8e4605']],
    [
      'by the name of a flag',
      program({ args: ['--token', 'abcdefg', '--api-key=hijklmn'] }),
      ['abcdefg', 'hijklmn'],
    ],
    [
      'a password in an address',
      program({ env: { DATABASE_URL: 'pg://u:pa55word@db/x' } }),
      ['pg://u:pa55word@db/x', 'pa55word'],
    ],
    [
      'a password in an address, as it stands there and as it is',
      program({ env: { DATABASE_URL: 'pg://u:pa55%2Fword@db/x' } }),
      ['pg://u:pa55%2Fword@db/x', 'pa55%2Fword', 'pa55/word'],
    ],
    [
      'a password in an address that is not encoded',
      program({ env: { DATABASE_URL: 'pg://u:pa55word%@db/x' } }),
      ['pg://u:pa55word%@db/x', 'pa55word%'],
    ],
    [
      'no region, no path, no flag, no short value',
      program({ args: ['--root', '/srv/europe/docs', '-v'], env: { REGION: 'europe', PIN_KEY: '1234' } }),
      [],
    ],
    [
      'no plain header and no page',
      http({ url: 'https://t.example/a/b?region=europe', headers: { 'x-team': 'research' } }),
      [],
    ],
  ])('knows %s', (_, reach, expected) => {
    expect(secretsOf(reach)).toEqual(expected)
  })
})
