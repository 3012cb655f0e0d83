/** What runs say and make, as the result of a tool: official clients take each of them. */
import { specTypeSchemas } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agent, type ContentPart, memoryState, type RunResult } from '../../../src/index.ts'
import { RETURNED, resultOf } from '../../../src/protocols/mcp/content.ts'
import { speaker } from '../../support.ts'
import { type Json, serve } from './calling.ts'

/** What a client has against a result. */
const objectionsTo = (result: unknown) => {
  const checked = specTypeSchemas.CallToolResult['~standard'].validate(JSON.parse(JSON.stringify(result)))
  return 'issues' in checked ? checked.issues : undefined
}

const RUN = '0190a1b2-c3d4-4e5f-8a9b-0123456789ab'
const BASE = 'https://h.example/deep/mcp?x=1'

const told = (result: Partial<RunResult>, base = BASE): Json =>
  resultOf({ text: '', structured: null, runId: RUN, ...result } as RunResult, base)

const partOf = (part: ContentPart, base?: string): Json =>
  told({ artifacts: [{ artifactId: 'a', parts: [part] }] }, base).content[0]

const returned = (value: unknown): Json => told({ structured: { [RETURNED]: value } })

describe('a part', () => {
  it.each<[string, ContentPart, object]>([
    ['text', { type: 'text', text: 'é' }, { type: 'text', text: 'é' }],
    ['no text', { type: 'text', text: '' }, { type: 'text', text: '' }],
    ['data', { type: 'data', data: { a: [1, null] } }, { type: 'text', text: '{"a":[1,null]}' }],
    ['data that is null', { type: 'data', data: null }, { type: 'text', text: 'null' }],
    ['data that is no JSON', { type: 'data', data: undefined }, { type: 'text', text: '' }],
    [
      'an image',
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ],
    [
      'an image of no known type',
      { type: 'image', data: 'aGk=' },
      { type: 'image', data: 'aGk=', mimeType: 'application/octet-stream' },
    ],
    [
      'a sound',
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
    ],
    [
      'an image in a URL',
      { type: 'image', data: 'data:image/png;base64,aGk=', mimeType: 'image/png' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ],
    [
      'an image elsewhere',
      { type: 'image', data: 'https://i.example/p.png', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'https://i.example/p.png', name: 'image', mimeType: 'image/png' },
    ],
    [
      'a file',
      { type: 'file', data: 'aGk=', mimeType: 'text/csv', filename: 'a.csv' },
      {
        type: 'resource',
        resource: { uri: `urn:servable:run:${RUN}:0/a.csv`, mimeType: 'text/csv', blob: 'aGk=' },
      },
    ],
    [
      'a file without a name',
      { type: 'file', data: 'aGk=', mimeType: 'text/csv' },
      {
        type: 'resource',
        resource: { uri: `urn:servable:run:${RUN}:0`, mimeType: 'text/csv', blob: 'aGk=' },
      },
    ],
    [
      'a file of this service',
      { type: 'file', data: `/api/runs/${RUN}/files/1`, mimeType: 'text/csv', filename: 'a.csv' },
      {
        ...{ type: 'resource_link', uri: `https://h.example/api/runs/${RUN}/files/1` },
        ...{ name: 'a.csv', mimeType: 'text/csv' },
      },
    ],
    [
      'a file elsewhere',
      { type: 'file', data: 'ftp://f.example/a b', mimeType: 'text/csv' },
      { type: 'resource_link', uri: 'ftp://f.example/a%20b', name: 'file', mimeType: 'text/csv' },
    ],
  ])('is %s', (_, part, block) => {
    expect(partOf(part)).toEqual(block)
  })

  it.each(
    ['../../etc/passwd', 'a b#c?d.csv', '/', '.', '', '\u202Egpj.exe', 'é\n\0', 'x'.repeat(300)].map(
      name => ({ name }),
    ),
  )('has a name that no address is broken by', ({ name }) => {
    const { resource } = partOf({ type: 'file', data: 'aGk=', mimeType: 'text/csv', filename: name })
    expect(resource.uri).toMatch(new RegExp(`^urn:servable:run:${RUN}:0/[\\w.-]*$`))
    expect(URL.canParse(resource.uri)).toBe(true)
  })

  it('in a URL that is no base64 is a link', () => {
    for (const data of ['data:text/plain,hello%20world', 'data:,x', 'data:text/plain;charset=utf-8,%7B'])
      for (const type of ['image', 'file'] as const)
        expect(partOf({ type, data, mimeType: 'text/plain' })).toMatchObject({
          type: 'resource_link',
          uri: data,
        })
  })

  it('in a URL that cannot be read is a link, for next to no work', () => {
    const data = `data:${'x'.repeat(100_000)}`
    expect(partOf({ type: 'image', data, mimeType: 'image/png' }).type).toBe('resource_link')
    const { uri } = partOf({ type: 'file', data: 'https://[', mimeType: 'a/b' })
    expect(uri).toBe('https://[')
  })

  it('of a run that has made many has an address of its own', () => {
    const file: ContentPart = { type: 'file', data: 'aGk=', mimeType: 'a/b', filename: 'same' }
    const artifacts = [
      { artifactId: 'a', parts: [file, file] },
      { artifactId: 'b', parts: [file] },
    ]
    const uris = told({ artifacts }).content.map(({ resource }: Json) => resource.uri)
    expect(new Set(uris).size).toBe(3)
  })
})

describe('the result of a run', () => {
  it('is what was said and made', () => {
    expect(told({ text: 'hi' })).toEqual({ content: [{ type: 'text', text: 'hi' }] })
    expect(told({})).toEqual({ content: [] })
    const made = [{ artifactId: 'a', parts: [{ type: 'text' as const, text: 'made' }] }]
    expect(told({ text: 'hi', artifacts: made }).content.map(({ text }: Json) => text)).toEqual([
      'hi',
      'made',
    ])
  })

  it('is the structured output, as an object and as text', () => {
    const structured = { a: [1] }
    const expected = { content: [{ type: 'text', text: '{"a":[1]}' }], structuredContent: structured }
    expect(told({ structured, text: 'beside' })).toEqual(expected)
    expect(told({ structured: [1] })).toEqual({ content: [{ type: 'text', text: '[1]' }] })
  })

  it('is taken by a client, whatever the run says', async () => {
    const parts: ContentPart[] = [
      { type: 'text', text: 'I have ' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'image', data: 'data:image/svg+xml,%3Csvg/%3E', mimeType: 'image/svg+xml' },
      { type: 'file', data: 'https://f.example/x', mimeType: 'a/b', filename: 'é' },
      { type: 'data', data: { deep: [[[[{}]]]] } },
    ]
    const agents = {
      says: speaker('says', { type: 'message', parts }, 'more'),
      makes: speaker(
        'makes',
        { type: 'artifact', artifactId: 'a', parts },
        { type: 'artifact', artifactId: 'b', parts },
      ),
    }
    const served = serve({ tools: true }, { agents, state: memoryState() })
    for (const name of ['says', 'makes']) {
      const { result } = await served.call(name)
      expect(objectionsTo(result)).toBeUndefined()
      expect(result.content.map(({ type }: Json) => type)).toContain('image')
    }
    const { result } = await served.call('says')
    expect(result.content[0].text).toBe('I have more')
  })

  it('names its run, and hides what a failure of the service was', async () => {
    const agents = {
      fine: speaker('fine', 'x'),
      fails: new Agent({
        ...{ name: 'fails', register: false },
        run() {
          throw new Error('the vault')
        },
      }),
      rejects: speaker('rejects', 'No.', { type: 'finish', finishReason: 'rejected' }),
      breaks: speaker('breaks', { type: 'nothing' } as never),
    }
    const { call } = serve({ tools: true }, { agents })
    const fine = await call('fine')
    expect(fine.result._meta['servable/runId']).toBe(fine.headers.get('x-run-id'))
    const failed = await call('fails')
    expect([failed.status, failed.result.isError]).toEqual([200, true])
    expect(failed.text).not.toContain('vault')
    expect((await call('rejects')).result).toMatchObject({ isError: true, content: [{ text: 'No.' }] })
    const broken = await call('breaks')
    expect([broken.status, broken.error.code]).toEqual([200, -32603])
  })
})

describe('what a tool returns', () => {
  it.each([
    ['text', 'é', { content: [{ type: 'text', text: 'é' }] }],
    ['no text', '', { content: [{ type: 'text', text: '' }] }],
    ['a number', 7, { content: [{ type: 'text', text: '7' }] }],
    ['nothing', null, { content: [{ type: 'text', text: 'null' }] }],
    ['false', false, { content: [{ type: 'text', text: 'false' }] }],
    ['a list', [1, 'a'], { content: [{ type: 'text', text: '[1,"a"]' }] }],
    ['an empty list', [], { content: [{ type: 'text', text: '[]' }] }],
    ['an object', { a: 1 }, { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
    ['content', [{ type: 'text', text: 'x' }], { content: [{ type: 'text', text: 'x' }] }],
    [
      'a whole result',
      { content: [{ type: 'text', text: 'x' }], isError: true, structuredContent: { a: 1 } },
      { content: [{ type: 'text', text: 'x' }], isError: true, structuredContent: { a: 1 } },
    ],
    [
      'an object with content of its own',
      { content: 'x' },
      { content: [{ type: 'text', text: '{"content":"x"}' }], structuredContent: { content: 'x' } },
    ],
  ])('is %s', (_, value, expected) => {
    expect(returned(value)).toEqual(expected)
  })

  it.each([
    [[{ type: 'text' }]],
    [[{ type: 'text', value: 'of a document' }]],
    [[{ type: 'image', src: 'a.png' }]],
    [[{ type: 'image', data: 7, mimeType: 'image/png' }]],
    [[{ type: 'resource' }]],
    [[{ type: 'resource_link', name: 'x' }]],
    [[{ type: 'text', text: 'x' }, { type: 'audio' }]],
    [{ content: [{ type: 'text', value: 'x' }] }],
    [{ content: [{ type: 'text', text: 'x' }], structuredContent: 'text' }],
    [{ content: [{ type: 'text', text: 'x' }], isError: 'no' }],
    [{ content: [{ type: 'text', text: 'x' }], _meta: 7 }],
  ])('only looks like content, and a client takes it: %j', value => {
    expect(objectionsTo(returned(value))).toBeUndefined()
  })

  it('decides nothing of the call', () => {
    const content = [{ type: 'text', text: 'x' }]
    const claims = {
      ...{
        resultType: 'input_required',
        inputRequests: {},
        requestState: 'x',
        taskId: 't',
        status: 'working',
      },
      ...{ ttlMs: 1, task: {} },
    }
    expect(Object.keys(returned({ content, ...claims }))).toEqual(['content'])
  })

  it('is taken by a client, whatever it is', () => {
    const block = fc.record(
      {
        type: fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'x'),
        text: fc.string(),
        data: fc.string(),
      },
      { requiredKeys: [] },
    )
    const values = fc.oneof(
      fc.jsonValue(),
      fc.array(block),
      fc.record(
        { content: fc.array(block), structuredContent: fc.jsonValue() },
        { requiredKeys: ['content'] },
      ),
    )
    fc.assert(
      fc.property(values, value => {
        expect(objectionsTo(returned(value))).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })
})
