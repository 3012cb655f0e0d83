/** What clients are told: lists, results, and how far a call is. */
import { describe, expect, it } from 'vitest'
import { own, type Server, uuid } from '../runs/client.ts'
import {
  ask,
  begin,
  call,
  callOf,
  expectRefused,
  FORMS,
  hear,
  type Json,
  open,
  resultOf,
  said,
  told,
  untilTold,
} from './client.ts'
import { TOOLS } from './service.ts'

const nameOf = (tool: (typeof TOOLS)[number]) =>
  typeof tool === 'string' ? tool.replaceAll(/[/.]/g, '_') : (tool.name ?? tool.of)

const TEXT = {
  type: 'object',
  properties: { input: { type: 'string' }, sessionId: { type: 'string' } },
  required: ['input'],
}

export function tellingCases(server: Server): void {
  describe('a list', () => {
    it('has the tools as they were named, and those of toolkits after them', async () => {
      const { tools, nextCursor } = await resultOf(server, 'tools/list')
      const names = tools.map(({ name }: Json) => name)
      expect(names).toEqual([...TOOLS.map(nameOf), 'multiply'])
      expect(names).toEqual(expect.arrayContaining(['team_desk', 'workflow_flow', 'odd_name']))
      expect(nextCursor).toBeUndefined()
      const again = await (await begin(server)).ask('tools/list')
      expect((await told(again)).json.result.tools).toEqual(tools)
    })

    it('says of each what it takes and gives', async () => {
      const { tools } = await resultOf(server, 'tools/list')
      const of = (wanted: string) => tools.find(({ name }: Json) => name === wanted)
      expect(of('weighs')).toMatchObject({
        description: 'Weighs things',
        inputSchema: TEXT,
        outputSchema: { type: 'object', properties: { grams: { type: 'number' } }, required: ['grams'] },
        annotations: { openWorldHint: true },
      })
      expect(of('repeat-it')).toEqual({
        name: 'repeat-it',
        title: 'Repeats',
        description: 'Repeats its arguments',
        inputSchema: {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, count: { type: 'integer' } },
          required: ['region'],
        },
        annotations: { readOnlyHint: true },
      })
      expect(of('multiply')).toMatchObject({
        description: 'Multiplies two numbers',
        inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
      })
      expect(of('thinks')).not.toHaveProperty('outputSchema')
    })
  })

  describe('a result', () => {
    it('has what was said, and not what was thought', async () => {
      for (const name of ['thinks', 'team_desk', 'odd_name']) {
        const { content, _meta, isError } = await call(server, name)
        expect(content).toEqual([{ type: 'text', text: 'Here it is.' }])
        expect([_meta['servable/runId'], isError]).toEqual([expect.stringMatching(uuid), undefined])
      }
      expect(said(await call(server, 'looks'))).toBe('I look. 21 degrees.')
      expect(said(await call(server, 'workflow_flow', 'this'))).toBe('Repeated this')
    })

    it('names its run in a header as well', async () => {
      const { headers, json } = await told(ask(server, 'tools/call', callOf('thinks')))
      expect(headers.get('x-run-id')).toBe(json.result._meta['servable/runId'])
    })

    it('has images, audio and files as they are, and the parts of artifacts', async () => {
      const { content, _meta } = await call(server, 'shows')
      const uri = `urn:servable:run:${_meta['servable/runId']}`
      expect(content).toEqual([
        { type: 'text', text: 'I show. Shown.' },
        { type: 'image', data: expect.stringMatching(/^iVBOR/), mimeType: 'image/png' },
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: `${uri}:2/a_b.csv`, mimeType: 'text/csv', blob: 'UklGRg==' } },
        { type: 'resource', resource: { uri: `${uri}:3`, mimeType: 'text/plain', blob: 'UklGRg==' } },
        { type: 'resource_link', uri: 'https://example.com/red.png', name: 'image', mimeType: 'image/png' },
        { type: 'text', text: '{"grams":12}' },
        { type: 'text', text: 'of an artifact' },
      ])
    })

    it('has the structured output, as text as well, or is an error', async () => {
      const { content, structuredContent } = await call(server, 'weighs')
      expect([content, structuredContent]).toEqual([[{ type: 'text', text: '{"grams":12}' }], { grams: 12 }])
      const { isError, structuredContent: none } = await call(server, 'weighs', 'nothing')
      expect([isError, none]).toEqual([true, undefined])
    })

    it('of a tool of a toolkit is what it returns', async () => {
      const { content, structuredContent } = await call(server, 'multiply', { a: 6, b: 7 })
      expect([content, structuredContent]).toEqual([
        [{ type: 'text', text: '{"product":42}' }],
        { product: 42 },
      ])
    })

    it('has the arguments of its own schema given as data', async () => {
      const headers = { 'mcp-param-region': 'Rome' }
      const result = await call(server, 'repeat-it', { region: 'Rome', count: 2 }, { headers })
      expect(JSON.parse(said(result))).toEqual([{ type: 'data', data: { region: 'Rome', count: 2 } }])
    })

    it('belongs to a session that the arguments name', async () => {
      const sessionId = own('session')
      for (const turns of [0, 2])
        expect(said(await call(server, 'recalls', { input: 'x', sessionId }))).toBe(
          `${turns} before x in ${sessionId}`,
        )
    })
  })

  describe('an error', () => {
    it('of an agent is a result, and masked unless it was meant to be told', async () => {
      for (const [input, text] of [
        ['told', 'Only whole numbers are taken'],
        ['x', 'Internal server error'],
      ] as const) {
        const { isError, content } = await call(server, 'fails', input)
        expect([isError, content]).toEqual([true, [{ type: 'text', text }]])
      }
      const { isError, content } = await call(server, 'refuses')
      expect([isError, content]).toEqual([true, [{ type: 'text', text: 'Not from here' }]])
    })

    it('of the service is one of the protocol', async () => {
      const { message, data } = await expectRefused(server, callOf('breaks'), [200, -32603])
      expect([message, data]).toEqual(['Internal server error', { code: 'invalid_event' }])
    })

    it('in arguments is a result, so that a model mends it', async () => {
      for (const [name, args] of [
        ['thinks', {}],
        ['thinks', { input: '' }],
        ['thinks', { input: 7 }],
        ['thinks', { input: 'x', sessionId: '' }],
        ['repeat-it', { count: 1 }],
        ['multiply', { a: 1 }],
      ] as const) {
        const { isError, content } = await call(server, name, args)
        expect([isError, content]).toEqual([
          true,
          [{ type: 'text', text: expect.stringMatching(/`(input|sessionId|arguments)/) }],
        ])
      }
    })

    it('in the call itself is one of the protocol', async () => {
      const wrong = [200, -32602] as const
      await expectRefused(server, callOf('nobody'), wrong)
      for (const name of ['opens', 'tells', 'team/desk', 'odd.name', '__proto__', 'Thinks'])
        await expectRefused(server, callOf(name), wrong)
      await expectRefused(server, { name: 'thinks', arguments: ['x'] }, wrong)
    })
  })

  describe.concurrent('how far a call is', () => {
    const stepsOf = async (asked: Promise<Response>, input: string): Promise<readonly Json[]> => {
      const { next, rest } = await hear(asked)
      const messages: Json[] = []
      for (const name of ['First', 'Second']) {
        while (messages.at(-1)?.params.message !== name) {
          const message = await next()
          expect(message).toMatchObject({ method: 'notifications/progress' })
          messages.push(message)
        }
        await open(server, `${name} of ${input}`)
      }
      return [...messages, ...(await rest())]
    }

    it.each([[0], ['token']])('is told by the token %j, and grows until the result', async progressToken => {
      const input = own('steps')
      const asked = ask(server, 'tools/call', callOf('steps', input), { meta: { progressToken } })
      const messages = await stepsOf(asked, input)
      const progress = messages.slice(0, -1).map(({ params }) => params)
      expect(new Set(progress.map(each => each.progressToken))).toEqual(new Set([progressToken]))
      expect(progress.map(each => each.progress)).toEqual(progress.map((_, at) => at + 1))
      expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ type: 'text', text: 'Done' }] } })
    })

    it('is told in a session too', async () => {
      const input = own('steps')
      const session = await begin(server, '2025-06-18')
      const messages = await stepsOf(session.call('steps', input, { meta: { progressToken: 'mine' } }), input)
      expect(messages.at(-1)).toMatchObject({ result: { content: [{ text: 'Done' }] } })
    })

    it('is not told without a token, on a stream that begins while the call takes long', async () => {
      const input = own('slow')
      const { rest } = await hear(ask(server, 'tools/call', callOf('gated', input)))
      await open(server, input)
      expect(await rest()).toMatchObject([{ id: 1, result: { content: [{ text: 'First and last.' }] } }])
    })

    it('is not told to a client that takes no stream', async () => {
      const input = own('json')
      const asked = { accept: 'application/json', meta: { progressToken: 1 }, can: FORMS }
      const answer = ask(server, 'tools/call', callOf('gated', input), asked)
      await untilTold(server, input, 'started')
      await open(server, input)
      const { headers, messages } = await told(answer)
      expect(headers.get('content-type')).toBe('application/json')
      expect(messages).toMatchObject([{ result: { content: [{ text: 'First and last.' }] } }])
    })
  })
}
