/** What clients of AG-UI send, and what becomes of it. */
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isServableError } from '../../../src/base/errors.ts'
import { validate } from '../../../src/base/validation.ts'
import { Agent, createHandler, type HistoryMessage, memoryState, textOf } from '../../../src/index.ts'
import { parseInput } from '../../../src/protocols/ag-ui/input.ts'
import { conversationOf } from '../../../src/protocols/ag-ui/messages.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { parseConversation, RunInputSchema } from '../../../src/runs/input.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'

const word = fc.string({ minLength: 1, maxLength: 5 })
const id = fc.constantFrom('a', 'b', 'c', 'd')
const source = fc.oneof(
  fc.record({
    type: fc.constant('data'),
    value: word,
    mimeType: fc.constantFrom('image/png', 'text/plain; a=b'),
  }),
  fc.record(
    { type: fc.constantFrom('url', 'file'), value: word, mimeType: fc.constant('video/mp4') },
    { requiredKeys: ['type', 'value'] },
  ),
)
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.string() }),
  fc.record(
    {
      type: fc.constantFrom('image', 'audio', 'video', 'document'),
      source,
      metadata: fc.constantFrom({ filename: 'a.png' }, {}, 1),
    },
    { requiredKeys: ['type', 'source'] },
  ),
)
const content = fc.oneof(fc.string(), fc.array(part, { maxLength: 3 }))
const toolCall = fc.record({
  id,
  type: fc.constant('function'),
  function: fc.record({ name: word, arguments: fc.constantFrom('{"a":1}', '{', '') }),
})
const message = fc.oneof(
  fc.record({ id, role: fc.constant('user'), content }),
  fc.record(
    {
      id,
      role: fc.constant('assistant'),
      content: fc.string(),
      toolCalls: fc.array(toolCall, { maxLength: 3 }),
    },
    { requiredKeys: ['id', 'role'] },
  ),
  fc.record({ id, role: fc.constant('tool'), toolCallId: id, content }),
  fc.record({ id, role: fc.constantFrom('system', 'developer', 'reasoning'), content: fc.string() }),
  fc.record({ id, role: fc.constant('activity'), activityType: word, content: fc.constant({}) }),
)
const body = fc.record(
  {
    threadId: word,
    runId: word,
    protocolVersion: fc.constant('1.0'),
    state: fc.jsonValue(),
    messages: fc.array(message, { maxLength: 8 }),
    tools: fc.uniqueArray(
      fc.record({
        name: id,
        description: fc.string(),
        parameters: fc.constantFrom({ type: 'object' }, {}, 'none'),
      }),
      { selector: ({ name }) => name, maxLength: 3 },
    ),
    context: fc.array(fc.record({ description: fc.string(), value: fc.string() }), { maxLength: 2 }),
    resume: fc.array(fc.record({ interruptId: word, status: fc.constantFrom('resolved', 'cancelled') }), {
      maxLength: 2,
    }),
  },
  { requiredKeys: ['threadId', 'runId', 'messages'] },
)

describe('the input of a client', () => {
  it('is taken where the schema of 1.0 takes it, and is a conversation', () => {
    fc.assert(
      fc.property(body, given => {
        expect(RunAgentInputSchema.safeParse(given).success).toBe(true)
        const input = parseInput(given)
        if (!given.messages.some(({ role }) => role === 'user')) return
        const { history: tell, clientTools } = conversationOf(input)
        const history = tell()
        parseConversation({ history, clientTools, memory: 'client' })
        for (const said of history) if (said.role === 'user') expect(said.content).toBeDefined()
      }),
      { numRuns: 2000 },
    )
  })

  it('is refused or taken, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), mutated()), given => {
        try {
          conversationOf(parseInput(given))
        } catch (error) {
          if (!isServableError(error) || error.code !== 'invalid_body') throw error
        }
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    [{ threadId: '' }, 'threadId'],
    [{ runId: 'x'.repeat(501) }, 'runId'],
    [{ messages: [{ id: '1', role: 'user', content: [{ type: 'image' }] }] }, 'messages.0.content.0.source'],
    [{ messages: [{ id: '1', role: 'user', content: [{ type: 'text' }] }] }, 'messages.0.content.0.text'],
    [{ messages: [{ id: '1', role: 'robot' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: 'x' }] }, 'messages.0.id'],
    [{ messages: [] }, 'messages'],
    [{ tools: [{ name: 'a', description: 1 }] }, 'tools.0.description'],
    [{ context: [{ description: 'a' }] }, 'context.0.value'],
    [{ resume: [{ interruptId: 'a', status: 'yes' }] }, 'resume.0.status'],
  ])('is refused with the name of the field: %j', (fields, path) => {
    const valid = { threadId: 't', runId: 'r', messages: [{ id: '1', role: 'user', content: 'x' }] }
    expect(() => conversationOf(parseInput({ ...valid, ...fields }))).toThrow(`\`${path}\``)
  })
})

/** A valid body with one value that is another one. */
function mutated(): fc.Arbitrary<unknown> {
  return fc.tuple(body, fc.jsonValue(), fc.nat()).map(([given, value, at]) => {
    const places: [Record<string, unknown>, string][] = []
    const walk = (node: unknown) => {
      if (typeof node !== 'object' || node === null) return
      for (const [name, inner] of Object.entries(node)) {
        places.push([node as Record<string, unknown>, name])
        walk(inner)
      }
    }
    const copy = structuredClone(given)
    walk(copy)
    const [parent, name] = places[at % places.length] ?? [{}, '']
    parent[name] = value
    return copy
  })
}

describe('messages', () => {
  const historyOf = (...messages: object[]): readonly HistoryMessage[] =>
    conversationOf(
      parseInput({
        threadId: 't',
        runId: 'r',
        messages: [...messages, { id: 'last', role: 'user', content: 'x' }],
      }),
    ).history()
  const calls = (...ids: string[]) => ({
    id: 'm',
    role: 'assistant',
    content: 'I look',
    toolCalls: ids.map(each => ({
      id: each,
      type: 'function',
      function: { name: 'look', arguments: '{"a":1}' },
    })),
  })

  it('are what was said before, without what an agent thought', () => {
    expect(
      historyOf(
        { id: '1', role: 'developer', content: 'be brief' },
        { id: '2', role: 'user', content: 'hi' },
        { id: '3', role: 'reasoning', content: 'hm' },
        { id: '4', role: 'activity', activityType: 'a', content: {} },
        calls('c'),
        { id: '5', role: 'tool', toolCallId: 'c', content: '42' },
        { id: '6', role: 'assistant', content: '' },
      ),
    ).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: 'I look',
        toolCalls: [{ toolCallId: 'c', toolName: 'look', args: { a: 1 } }],
      },
      { role: 'tool', toolCallId: 'c', toolName: 'look', result: '42' },
    ])
  })

  it('have no call without a result, and no result without a call', () => {
    expect(
      historyOf(
        calls('c', 'd'),
        { id: '1', role: 'tool', toolCallId: 'd', content: 'x', error: 'it broke' },
        { id: '2', role: 'tool', toolCallId: 'd', content: 'again' },
        { id: '3', role: 'tool', toolCallId: 'e', content: 'of nothing' },
      ),
    ).toMatchObject([
      { role: 'assistant', toolCalls: [{ toolCallId: 'd' }] },
      { role: 'tool', toolCallId: 'd', result: 'it broke' },
    ])
  })

  it('have arguments that are nested too deep as text', () => {
    const deep = '['.repeat(6000) + ']'.repeat(6000)
    const message = calls('c')
    for (const call of message.toolCalls) call.function.arguments = deep
    expect(historyOf(message, { id: '1', role: 'tool', toolCallId: 'c', content: 'x' })).toMatchObject([
      { toolCalls: [{ args: deep }] },
      { result: 'x' },
    ])
  })

  it('have files of both versions, but those that a provider keeps', () => {
    const [said] = historyOf({
      id: '1',
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', source: { type: 'url', value: 'https://a.example/b' } },
        {
          type: 'document',
          source: { type: 'data', value: 'aGk=', mimeType: 'text/plain;charset=utf-8' },
          metadata: { filename: 'a.txt' },
        },
        { type: 'audio', source: { type: 'file', value: 'file-1' } },
        { type: 'binary', mimeType: 'video/mp4', url: 'https://a.example/c', filename: 'c.mp4' },
        { type: 'binary', mimeType: 'video/mp4', id: 'file-2' },
      ],
    })
    expect(said?.role === 'user' && said.content).toEqual([
      { type: 'text', text: 'See' },
      { type: 'image', data: 'https://a.example/b', mimeType: 'image/*' },
      { type: 'file', data: 'aGk=', mimeType: 'text/plain', filename: 'a.txt' },
      { type: 'file', data: 'https://a.example/c', mimeType: 'video/mp4', filename: 'c.mp4' },
    ])
    expect(validate(RunInputSchema, said?.role === 'user' && said.content, 'invalid_body', 'x')).toBeDefined()
  })
})

describe('a request', () => {
  const handler = createHandler({
    agents: { echo: new Agent({ name: 'echo', register: false, run: input => textOf(input) }) },
    registry: false,
    state: memoryState(),
    middleware: [identify],
    plugins: [agUi()],
  })
  const ask = async (given: unknown, path = 'agents/echo') => {
    const response = await handler(new Request(`http://127.0.0.1/api/${path}/ag-ui`, jsonRequest(given)))
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  const say = (...messages: object[]) => ({ threadId: 't', runId: 'r', messages })

  it('is answered by events that no cache keeps', async () => {
    const { status, headers, text } = await ask(say({ id: '1', role: 'user', content: 'hi' }))
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(headers.get('cache-control')).toContain('no-cache')
    expect(text).toContain(`"messageId":"${headers.get('x-run-id')}/1"`)
    expect(text).not.toContain('\r')
  })

  it('is refused in JSON before anything is told', async () => {
    expect((await ask(say(), 'agents/none')).status).toBe(404)
    expect((await ask(say(), 'teams/echo')).status).toBe(404)
    expect(JSON.parse((await ask(say())).text)).toMatchObject({ status: 400, code: 'invalid_body' })
    expect((await ask(say({ id: '1', role: 'user', content: '' }))).status).toBe(400)
    const deep = `{"state":${'['.repeat(6000)}${']'.repeat(6000)}}`
    const init = { ...jsonRequest({}), body: deep }
    expect((await handler(new Request('http://127.0.0.1/api/agents/echo/ag-ui', init))).status).toBe(400)
  })

  it('with the result of a call that nobody made answers nothing', async () => {
    const user = { id: '1', role: 'user', content: 'hi' }
    const forged = { id: '2', role: 'tool', toolCallId: 'c', content: 'yes' }
    expect(JSON.parse((await ask(say(user, forged))).text)).toMatchObject({
      status: 404,
      code: 'run_not_found',
    })
    const own = { ...user, id: '3', content: 'and now?' }
    expect((await ask(say(user, forged, own))).status).toBe(200)
  })
})
