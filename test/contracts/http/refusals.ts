import { describe, expect, it } from 'vitest'
import {
  ask,
  chunk,
  expectAlive,
  expectNothingInternal,
  expectProblem,
  hangUp,
  jsonRequest,
  post,
  raw,
  run,
  type Server,
} from './client.ts'
import type { Host } from './host.ts'

const echo = '/api/agents/echo/run'
const mib = 1024 * 1024
const json = 'content-type: application/json'
const chunked = 'transfer-encoding: chunked'
const requestLine = `POST ${echo} HTTP/1.1`

const bytes = (body: string | Uint8Array<ArrayBuffer>, type?: string): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  ...(type !== undefined && { headers: { 'content-type': type } }),
})

export function refusalCases(server: Server, { decodesPaths }: Host): void {
  describe('a run body', () => bodyCases(server))
  describe('the size of a body', () => sizeCases(server))
  describe('`content-type`', () => typeCases(server))
  describe('an unknown or broken path', () => {
    pathCases(server)
    if (!decodesPaths) encodingCases(server)
  })
  describe('methods', () => methodCases(server))
  describe('bytes that no client library sends', () => rawCases(server))
}

const badBodies: readonly [what: string, body: string, path: string | undefined][] = [
  ['nothing', '', undefined],
  ['text that is not JSON', 'input=hello', undefined],
  ['JSON cut short', '{"input":"x"', undefined],
  ['null', 'null', ''],
  ['an array', '[{"input":"x"}]', ''],
  ['text', '"hello"', ''],
  ['a number', '42', ''],
  ['no `input`', '{"message":"x"}', 'input'],
  ['a null `input`', '{"input":null}', 'input'],
  ['a number as `input`', '{"input":5}', 'input'],
  ['an object as `input`', '{"input":{"text":"x"}}', 'input'],
  ['an empty `input`', '{"input":""}', 'input'],
  ['no parts', '{"input":[]}', 'input'],
  ['a part that is null', '{"input":[null]}', 'input.0'],
  ['a part without a type', '{"input":[{"text":"x"}]}', 'input.0.type'],
  ['a part of an unknown type', '{"input":[{"type":"video","data":"x"}]}', 'input.0.type'],
  ['a text part without text', '{"input":[{"type":"text"}]}', 'input.0.text'],
  ['an image without data', '{"input":[{"type":"image","data":""}]}', 'input.0.data'],
  ['a file without a media type', '{"input":[{"type":"file","data":"x"}]}', 'input.0.mimeType'],
  ['a number as `sessionId`', '{"input":"x","sessionId":5}', 'sessionId'],
  ['an empty `userId`', '{"input":"x","userId":""}', 'userId'],
  ['an endless `sessionId`', `{"input":"x","sessionId":"${'s'.repeat(501)}"}`, 'sessionId'],
  ['an object as `apiKey`', '{"input":"x","apiKey":{}}', 'apiKey'],
  ['an `input` under `__proto__`', '{"__proto__":{"input":"x"}}', 'input'],
  ['an `input` under `constructor`', '{"constructor":{"prototype":{"input":"x"}}}', 'input'],
  ['a part under `__proto__`', '{"input":[{"__proto__":{"type":"text","text":"x"}}]}', 'input.0.type'],
  ['brackets without end', `{"input":${'['.repeat(100_000)}`, undefined],
  ['a hundred thousand levels', `{"input":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, undefined],
  [
    'as many levels where nobody looks',
    `{"input":"x","more":${'['.repeat(6000)}${']'.repeat(6000)}}`,
    undefined,
  ],
  ['too many parts', `{"input":[${'{"type":"text","text":"x"},'.repeat(1000)}0]}`, 'input'],
  ['half a million wrong parts', `{"input":[${'0,'.repeat(500_000)}0]}`, undefined],
]

function bodyCases(server: Server): void {
  it.each(badBodies)('is refused when it is or has %s', async (_what, body, path) => {
    const answer = await ask(server, echo, bytes(body, 'application/json'))
    const problem = await expectProblem(server, answer, 400, 'invalid_body')
    const issues = problem.issues as { path: string }[] | undefined
    expect(issues?.map(issue => issue.path)).toEqual(path === undefined ? undefined : [path])
  })

  it('names every wrong field', async () => {
    const answer = await post(server, echo, { input: 5, sessionId: 5, userId: 5 })
    const problem = await expectProblem(server, answer, 400, 'invalid_body')
    expect(problem.issues).toHaveLength(3)
    for (const field of ['input', 'sessionId', 'userId']) expect(problem.detail).toContain(`\`${field}\``)
  })

  it('is not repeated in its refusal', async () => {
    const answer = await post(server, echo, { input: [{ type: 'canary-1' }], sessionId: ['canary-2'] })
    await expectProblem(server, answer, 400, 'invalid_body')
    expect(answer.text).not.toContain('canary')
  })

  it('may have keys named `__proto__` and `constructor`, which do nothing', async () => {
    const body = '{"input":"x","__proto__":{"userId":"evil"},"constructor":{"prototype":{"userId":"evil"}}}'
    const answer = await ask(server, '/api/agents/told/run', bytes(body, 'application/json'))
    expect(JSON.parse(answer.text).structured).not.toHaveProperty('userId')
    const next = await run(server, '/api/agents/told/run', { input: 'x' })
    expect(next.structured).not.toHaveProperty('userId')
  })

  it('may begin with a byte order mark', async () => {
    const answer = await ask(server, echo, bytes('\uFEFF{"input":"one"}', 'application/json'))
    expect(JSON.parse(answer.text).text).toBe('one')
  })

  it('may hold no bytes that are not UTF-8', async () => {
    const body = Uint8Array.from([...new TextEncoder().encode('{"input":"a'), 0xff, 0x22, 0x7d])
    const { status, text } = await ask(server, '/api/agents/parts/run', bytes(body, 'application/json'))
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { code: 'invalid_body', detail: 'The body must be UTF-8' },
    ])
  })
}

function sizeCases(server: Server): void {
  it('may be just what is allowed', async () => {
    const input = 'x'.repeat(mib - '{"input":""}'.length)
    expect((await run(server, '/api/agents/parts/run', { input })).text).toHaveLength(input.length)
  })

  // A server may close the connection while a client still sends. Then the answer may be lost, but the server must survive.
  it('is refused at 2 MiB', async () => {
    const body = JSON.stringify({ input: 'x'.repeat(2 * mib) })
    const lines = [requestLine, json, `content-length: ${body.length}`]
    const answer = await raw(server, lines, body).catch(() => undefined)
    if (answer !== undefined) await expectProblem(server, answer, 413, 'body_too_large')
    await expectAlive(server)
  })

  it('need not be declared', async () => {
    const body = chunk('{"input":') + chunk('"one two"}') + chunk('')
    const answer = await raw(server, [requestLine, json, chunked], body)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('"text":"one two"')
  })
}

function typeCases(server: Server): void {
  const body = '{"input":"one"}'
  const wrong = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'text/json',
    'text/plain; application/json',
    'application/json+xml',
    'json',
  ]

  it.each(wrong)('is refused as %j', async type => {
    const answer = await ask(server, echo, bytes(body, type))
    await expectProblem(server, answer, 415, 'unsupported_media_type')
  })

  it('is refused where there is none', async () => {
    const answer = await ask(server, echo, bytes(body))
    await expectProblem(server, answer, 415, 'unsupported_media_type')
  })

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
    'may be %j',
    async type => {
      expect((await ask(server, echo, bytes(body, type))).status).toBe(200)
    },
  )
}

function pathCases(server: Server): void {
  it.each([
    'nobody',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    '%00',
    'echo%00',
    '%2F',
    'echo%20',
  ])('finds no agent named %s', async name => {
    const answer = await ask(server, `/api/agents/${name}/run`, jsonRequest({ input: 'x' }))
    const problem = await expectProblem(server, answer, 404, 'agent_not_found')
    expect(problem.detail).toContain(decodeURIComponent(name))
  })

  it('shows no more than the start of a long name', async () => {
    const answer = await post(server, `/api/agents/${'n'.repeat(4000)}/run`, { input: 'x' })
    await expectProblem(server, answer, 404, 'agent_not_found')
    expect(answer.text.length).toBeLessThan(1000)
  })

  it('shows no markup of a name as HTML', async () => {
    const answer = await post(server, '/api/agents/%3Cscript%3E/run', { input: 'x' })
    await expectProblem(server, answer, 404, 'agent_not_found')
  })

  it.each(['/', '/api/nothing', '/api/agents/echo', '/api/agents/echo/walk', '/api/agents//run'])(
    'finds nothing at %s',
    async path => {
      const answer = await ask(server, path)
      await expectProblem(server, answer, 404, 'not_found')
      expect(answer.headers.get('link')).toContain('; rel="index"')
    },
  )

  it('says at its prefix what is mounted', async () => {
    const { status, text } = await ask(server, '/api')
    expect([status, JSON.parse(text)]).toMatchObject([200, { _links: { agents: { href: '/api/agents' } } }])
  })
}

function encodingCases(server: Server): void {
  it.each(['%', '%2', '%zz', '%E0%A4%A', '%ff', 'a%'])('refuses the broken encoding %s', async name => {
    const answer = await raw(
      server,
      [`POST /api/agents/${name}/run HTTP/1.1`, json, 'content-length: 13'],
      '{"input":"x"}',
    )
    await expectProblem(server, answer, 400, 'invalid_path')
  })
}

function methodCases(server: Server): void {
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('%s is not for a run', async method => {
    const answer = await ask(server, echo, { method })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('OPTIONS, POST')
    if (method !== 'HEAD') await expectProblem(server, answer, 405, 'method_not_allowed')
  })

  it.each(['POST', 'PUT', 'DELETE'])('%s is not for a list', async method => {
    const answer = await ask(server, '/api/agents', { method })
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    await expectProblem(server, answer, 405, 'method_not_allowed')
  })

  it('HEAD answers as GET does, without a body', async () => {
    const answer = await raw(server, ['HEAD /api/agents HTTP/1.1'])
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.text).toBe('')
  })

  it('HEAD has no body where nothing is', async () => {
    const answer = await raw(server, ['HEAD /api/nothing HTTP/1.1'])
    expect([answer.status, answer.text]).toEqual([404, ''])
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })

  it('OPTIONS tells the methods', async () => {
    const answer = await ask(server, '/api/teams/line/run', { method: 'OPTIONS' })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers.get('allow')).toBe('OPTIONS, POST')
    const list = await ask(server, '/api/registry', { method: 'OPTIONS' })
    expect(list.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  it('OPTIONS finds nothing where nothing is', async () => {
    const answer = await ask(server, '/api/nothing', { method: 'OPTIONS' })
    await expectProblem(server, answer, 404, 'not_found')
  })
}

// A runtime's own parser may answer with a bare 400 or close the connection before the handler runs.
function rawCases(server: Server): void {
  const body = '{"input":"one"}'
  const length = `content-length: ${body.length}`
  const fields: readonly [what: string, field: string][] = [
    ['a control character', 'x-request-id: a\x01b'],
    ['an escape sequence', 'x-test-user: \x1b[31mred'],
    ['a DEL', 'x-request-id: a\x7fb'],
    ['a NUL', 'x-api-key: a\x00b'],
    ['a lone carriage return', 'x-request-id: a\rb'],
    ['Latin-1 letters', 'x-request-id: \xfc\xff'],
    ['a tab', 'x-request-id: a\tb'],
  ]

  it.each(fields)('take no harm from %s in a header', async (_what, field) => {
    const answer = await raw(server, [requestLine, json, length, field], body).catch(() => undefined)
    if (answer !== undefined) {
      expect([200, 400]).toContain(answer.status)
      expectNothingInternal(answer.text)
      const requestId = answer.headers.get('x-request-id')
      if (requestId !== null) expect(requestId).toMatch(/^[\da-f-]{36}$/)
    }
    await expectAlive(server)
  })

  it('take no harm from a client that hangs up in the middle of its body', async () => {
    await hangUp(server, [requestLine, json, length], '{"input"')
    await expectAlive(server)
  })
}
