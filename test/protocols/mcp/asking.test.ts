/** What a run asks is a form, and what a person fills in is the value that the run gets. */
import { specTypeSchemas } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Agent, type InputRequest, memoryState, type Tool } from '../../../src/index.ts'
import { answersTo, formsOf, keyOf, showsForms } from '../../../src/protocols/mcp/asking.ts'
import { type Json, messagesIn, type Served, SHOWS_FORMS, serve } from './calling.ts'

const RUN = '0190a1b2-c3d4-4e5f-8a9b-0123456789ab'

const question = (schema?: unknown, name = 'q'): InputRequest => ({
  ...{ id: `${RUN}/${name}`, kind: 'question', message: 'Which?', digest: 'd' },
  ...(schema !== undefined && { schema }),
})
const approval: InputRequest = {
  ...{ id: `${RUN}/approve:pay`, kind: 'approval', toolName: 'pay', args: { amount: 5 }, digest: 'd' },
}

const formOf = (request: InputRequest, said?: string): Json => Object.values(formsOf([request], said))[0]
const schemaOf = (schema?: unknown) => formOf(question(schema)).params.requestedSchema

const text = { type: 'string' }
const asAnswer = (answer: unknown) => ({ type: 'object', properties: { answer }, required: ['answer'] })

describe('a form', () => {
  it.each([
    ['nothing', undefined, asAnswer(text)],
    ['anything', true, asAnswer(text)],
    ['any JSON', {}, asAnswer(text)],
    ['text', text, asAnswer(text)],
    ['a number', { type: 'number', minimum: 1 }, asAnswer({ type: 'number', minimum: 1 })],
    ['an integer', { type: 'integer' }, asAnswer({ type: 'integer' })],
    ['a yes or no', { type: 'boolean' }, asAnswer({ type: 'boolean' })],
    ['a choice', { type: 'string', enum: ['a', 'b'] }, asAnswer({ type: 'string', enum: ['a', 'b'] })],
    [
      'choices',
      { type: 'array', items: { type: 'string', enum: ['a'] } },
      asAnswer({ type: 'array', items: { type: 'string', enum: ['a'] } }),
    ],
    [
      'choices with titles',
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
      asAnswer({ type: 'array', items: { type: 'string', anyOf: [{ const: 'a', title: 'A' }] } }),
    ],
    ['a list of any texts', { type: 'array', items: text }, asAnswer(text)],
    ['a list of anything', { type: 'array' }, asAnswer(text)],
    ['null', { type: 'null' }, asAnswer(text)],
    ['several types', { type: ['string', 'null'] }, asAnswer(text)],
    ['an object without fields', { type: 'object' }, asAnswer(text)],
    ['an object of fields that are none', { type: 'object', properties: [] }, asAnswer(text)],
    [
      'an object in an object',
      { type: 'object', properties: { a: { type: 'object', properties: { b: text } } } },
      asAnswer(text),
    ],
    [
      'an object of lists',
      { type: 'object', properties: { a: { type: 'array', items: text } } },
      asAnswer(text),
    ],
    ['an object of anything', { type: 'object', properties: { a: {} } }, asAnswer(text)],
    ['no schema', 'string', asAnswer(text)],
    ['no schema either', null, asAnswer(text)],
    ['a list of schemas', [text], asAnswer(text)],
  ])('asks for %s', (_, schema, shown) => {
    expect(schemaOf(schema)).toEqual(shown)
  })

  it.each([
    ['an address of mail', z.email(), { format: 'email' }],
    ['a date', z.iso.date(), { format: 'date' }],
    ['an address', z.url(), { format: 'uri' }],
    ['an id', z.uuid(), { format: undefined }],
    ['an address of a machine', z.ipv4(), { format: undefined }],
    ['base64', z.base64(), { format: undefined }],
    ['whole numbers', z.int(), { type: 'integer' }],
    ['a choice', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['a choice of a library that says no type', { enum: ['1', '2'] }, { type: 'string', enum: ['1', '2'] }],
    [
      'choices of a library that says no type',
      { type: 'array', items: { enum: ['a'] } },
      { items: { type: 'string', enum: ['a'] } },
    ],
    ['choices with titles', { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }, {}],
    ['a choice with titles', { anyOf: [{ const: 'a', title: 'A' }] }, { type: 'string' }],
    ['choices of numbers', { type: 'array', items: { enum: [1, 2] } }, text],
    ['choices of anything', { type: 'array', items: { anyOf: [{ type: 'string' }] } }, text],
    ['a choice of numbers', { enum: [1, 2] }, text],
  ])('of %s is taken by clients', (_, schema, shown) => {
    const json = '~standard' in schema ? z.toJSONSchema(schema as z.ZodType) : schema
    const fields = { type: 'object', properties: { a: json, b: text } }
    for (const form of [formOf(question(json)), formOf(question(fields))]) {
      const told = JSON.parse(JSON.stringify(form))
      expect(specTypeSchemas.ElicitRequest['~standard'].validate(told)).not.toHaveProperty('issues')
    }
    const { answer } = schemaOf(json).properties
    expect({ format: undefined, ...answer }).toMatchObject(shown)
  })

  it('of an object of fields is that object', () => {
    const flat = {
      type: 'object',
      properties: {
        name: text,
        age: { type: 'integer' },
        likes: { type: 'array', items: { type: 'string', enum: ['a'] } },
      },
      required: ['name'],
    }
    expect(schemaOf(flat)).toEqual(flat)
    expect(schemaOf({ type: 'object', properties: {} })).toEqual({ type: 'object', properties: {} })
    const odd = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(schemaOf(odd))).toBe(JSON.stringify(odd))
  })

  it('of an approval asks for a decision, and shows the call', () => {
    expect(formOf(approval)).toEqual({
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Approve `pay`: {"amount":5}',
        requestedSchema: {
          type: 'object',
          properties: { decision: { type: 'string', enum: ['approve', 'deny'] }, reason: text },
          required: ['decision'],
        },
      },
    })
    const long = { ...approval, args: { note: 'x'.repeat(100_000) } }
    expect(formOf(long).params.message.length).toBeLessThan(1100)
  })

  it('repeats what was said before, the end of it, and once', () => {
    const [first, second] = Object.values(formsOf([question(), question(undefined, 'r')], 'So.')) as Json[]
    expect([first.params.message, second.params.message]).toEqual(['So.\n\nWhich?', 'Which?'])
    expect(formOf(question(), '').params.message).toBe('Which?')
    const said = `${'a'.repeat(5000)}end`
    expect(formOf(question(), said).params.message).toMatch(/^a{1997}end\n\nWhich\?$/)
  })

  it('stands under a name that is the same in each run', () => {
    expect(keyOf(question(undefined, 'size'))).toBe('size')
    expect(keyOf({ ...approval, id: `${RUN}/a/b` })).toBe('a/b')
    const names = ['__proto__', 'constructor', 'toString']
    const forms = formsOf(names.map(name => question(undefined, name)))
    expect(Object.keys(forms)).toEqual(names)
    expect(Object.getPrototypeOf(forms)).toBe(Object.prototype)
  })

  it.each([
    [{ elicitation: {} }, true],
    [{ elicitation: { form: {} } }, true],
    [{ elicitation: { form: {}, url: {} } }, true],
    [{ elicitation: { url: {} } }, false],
    [{ elicitation: true }, false],
    [{ elicitation: null }, false],
    [{ elicitation: [] }, false],
    [{}, false],
  ])('is shown by a client that can do %j: %s', (capabilities, expected) => {
    expect(showsForms(capabilities)).toBe(expected)
  })
})

describe('what a person fills in', () => {
  const valuesOf = fc.oneof(
    fc.record({ schema: fc.constant(text), value: fc.string() }),
    fc.record({ schema: fc.constant(undefined), value: fc.string() }),
    fc.record({
      schema: fc.constant({ type: 'number' }),
      value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    }),
    fc.record({ schema: fc.constant({ type: 'integer' }), value: fc.integer() }),
    fc.record({ schema: fc.constant({ type: 'boolean' }), value: fc.boolean() }),
    fc.record({
      schema: fc.constant({ type: 'array', items: { enum: ['a', 'b'] } }),
      value: fc.array(fc.constantFrom('a', 'b')),
    }),
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean())).map(value => {
      const fields = Object.entries(value).map(([name, member]) => [name, { type: typeof member }])
      return { schema: { type: 'object', properties: Object.fromEntries(fields) }, value }
    }),
    fc.record({
      schema: fc.constant({ enum: ['1', 'true', 'null'] }),
      value: fc.constantFrom('1', 'true', 'null'),
    }),
    fc.record({
      schema: fc.constantFrom<unknown>(
        {},
        { type: 'array' },
        { type: 'object', properties: { a: { type: 'object' } } },
        { anyOf: [{}] },
      ),
      value: fc.jsonValue().filter(value => typeof value !== 'string'),
    }),
  )

  /** What a client sends whose form was filled in with a value: text that is no text is its JSON. */
  function filled(requestedSchema: Json, schema: unknown, value: unknown): unknown {
    if (JSON.stringify(requestedSchema) === JSON.stringify(schema)) return value
    const isText = requestedSchema.properties.answer.type === 'string' && typeof value !== 'string'
    return { answer: isText ? JSON.stringify(value) : value }
  }

  it('comes back as the value', () => {
    fc.assert(
      fc.property(
        valuesOf,
        fc.constantFrom('q', '__proto__', 'constructor', 'a/b', ''),
        ({ schema, value }, name) => {
          const request = question(schema, name)
          const forms = JSON.parse(JSON.stringify(formsOf([request]))) as Json
          const [key = ''] = Object.keys(forms)
          const { requestedSchema } = Object.values<Json>(forms)[0].params
          const content = filled(requestedSchema, schema, value)
          const responses = `{${JSON.stringify(key)}:${JSON.stringify({ action: 'accept', content })}}`
          const { answers, isRefused } = answersTo([request], JSON.parse(responses))
          const [answer, ...others] = answers as Json[]
          expect([isRefused, others, answer.id]).toEqual([false, [], request.id])
          // Of numbers JSON has one zero.
          expect(JSON.stringify(answer.value)).toBe(JSON.stringify(value))
        },
      ),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['{"a":1}', { a: 1 }],
    ['[1]', [1]],
    ['yes', 'yes'],
    ['{"a":', '{"a":'],
    [7, 7],
    [undefined, undefined],
  ])('for a schema that is no form, %j, is read as JSON where it is JSON', (answer, value) => {
    const responses = { q: { action: 'accept', content: { answer } } }
    expect(answersTo([question({})], responses).answers).toEqual([{ id: `${RUN}/q`, value }])
  })

  it('approves, denies, or ends the run', () => {
    const given = (action: string, content?: object) =>
      answersTo([approval], { 'approve:pay': { action, content } })
    const id = approval.id
    for (const decision of ['approve', 'deny']) {
      const told = { answers: [{ id, decision }], isRefused: false }
      for (const reason of ['', undefined, 7, {}]) expect(given('accept', { decision, reason })).toEqual(told)
      const { answers } = given('accept', { decision, reason: 'I say so' })
      expect(answers).toEqual([{ id, decision, reason: 'I say so' }])
    }
    // A client that accepts a form by itself has not approved.
    for (const content of [undefined, {}, { decision: 'yes' }, { decision: true }, { answer: 'approve' }])
      expect(() => given('accept', content)).toThrow(
        /`inputResponses\.approve:pay\.content\.decision` must be/,
      )
    expect(() => given('accept', Object.create({ toString: 1 }))).toThrow(/must be `approve` or `deny`/)
    expect(given('decline')).toEqual({ answers: [{ id, decision: 'deny' }], isRefused: false })
    expect(given('cancel')).toEqual({ answers: [], isRefused: true })
    for (const action of ['decline', 'cancel'])
      expect(answersTo([question()], { q: { action } })).toEqual({ answers: [], isRefused: true })
  })

  it('approves nothing that was not asked, and nothing by what it holds', () => {
    const none = { answers: [], isRefused: false }
    for (const responses of [{}, { other: { action: 'accept' } }, { pay: { action: 'accept' } }])
      expect(answersTo([approval], responses)).toEqual(none)
    expect(answersTo([], { 'approve:pay': { action: 'cancel' } })).toEqual(none)
    const denied = { action: 'decline', decision: 'approve', content: { decision: 'approve' } }
    expect(answersTo([approval], { 'approve:pay': denied }).answers).toEqual([
      { id: approval.id, decision: 'deny' },
    ])
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'is not the %s that every object has',
    name => {
      expect(answersTo([question(undefined, name)], {})).toEqual({ answers: [], isRefused: false })
      const own = JSON.parse(`{"${name}":{"action":"accept","content":{"answer":"x"}}}`)
      expect(answersTo([question(undefined, name)], own).answers).toEqual([
        { id: `${RUN}/${name}`, value: 'x' },
      ])
      expect(() => answersTo([question()], { q: { action: name } })).toThrow(
        /`inputResponses\.q\.action` must be/,
      )
    },
  )

  it.each([
    null,
    undefined,
    'x',
    1,
    [],
    {},
    { action: 'ACCEPT' },
    { action: ['accept'] },
    { action: 'accept ' },
  ])('is refused where it says nothing: %j', response => {
    expect(() => answersTo([question()], { q: response })).toThrow(
      expect.objectContaining({
        code: 'invalid_body',
        message: expect.stringContaining('inputResponses.q.action'),
      }),
    )
  })

  it.each([null, [], 'x', 7])('is refused where it is no object: %j', responses => {
    expect(() => answersTo([], responses)).toThrow(expect.objectContaining({ code: 'invalid_body' }))
  })

  it('costs no more for thousands that nobody asked', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, { action: 'no' }]))
    let looks = 0
    const watched = new Proxy(many, {
      get: (target, name) => {
        looks++
        return Reflect.get(target, name)
      },
    })
    expect(answersTo([question(), approval], watched).answers).toEqual([])
    expect(looks).toBeLessThan(10)
  })
})

describe('a call that asks', () => {
  const pay: Tool = {
    name: 'pay',
    needsApproval: true,
    execute: args => `paid ${(args as { amount: number }).amount}`,
  }
  const agents = {
    size: new Agent({
      ...{ name: 'size', register: false },
      async *run(_, { ask }) {
        yield 'Let us see. '
        yield `Size ${JSON.stringify(yield* ask('size', { message: 'Which size?', schema: { type: 'integer' } }))}`
      },
    }),
    both: new Agent({
      ...{ name: 'both', register: false },
      async *run(_, { ask, parallel }) {
        const said = yield* parallel([ask('__proto__'), ask('constructor')])
        yield JSON.stringify(said)
      },
    }),
    twice: new Agent({
      ...{ name: 'twice', register: false },
      async *run(_, { ask }) {
        yield JSON.stringify([yield* ask('one'), yield* ask('two')])
      },
    }),
    pays: new Agent({
      ...{ name: 'pays', register: false, tools: [pay] },
      async *run(_, { callTool }) {
        yield await (async () => '')()
        yield String(yield* callTool(pay, { amount: 5 }))
      },
    }),
  }
  const served: Served = serve({ tools: true }, { agents, state: memoryState() })
  const answered = (name: string, requestState: unknown, inputResponses: object) =>
    served.call(name, { input: 'x' }, { capabilities: SHOWS_FORMS, params: { requestState, inputResponses } })
  const ask = async (name: string) => {
    const { result } = await served.call(name, { input: 'x' }, { capabilities: SHOWS_FORMS })
    expect(result.resultType).toBe('input_required')
    return result
  }
  const textOf = ({ result }: { result: Json }) => result.content[0].text

  it('gets the value of a form', async () => {
    const { inputRequests, requestState } = await ask('size')
    expect(inputRequests.size.params).toMatchObject({
      message: 'Let us see. \n\nWhich size?',
      requestedSchema: asAnswer({ type: 'integer' }),
    })
    const told = await answered('size', requestState, { size: { action: 'accept', content: { answer: 42 } } })
    expect(textOf(told)).toContain('Size 42')
    expect(told.result.resultType).toBe('complete')
  })

  it('asks again where nothing was answered, and refuses a value that does not fit', async () => {
    const { requestState } = await ask('size')
    const again = await answered('size', requestState, { other: { action: 'accept' } })
    expect(again.result.inputRequests).toHaveProperty('size')
    const misfit = { size: { action: 'accept', content: { answer: 'big' } } }
    const { status, error } = await answered('size', again.result.requestState, misfit)
    expect([status, error.code, error.message]).toEqual([400, -32602, expect.stringContaining('integer')])
    const told = await answered('size', requestState, { size: { action: 'accept', content: { answer: 1 } } })
    expect(textOf(told)).toContain('Size 1')
  })

  it('asks under names that every object has', async () => {
    const { inputRequests, requestState } = await ask('both')
    expect(Object.keys(inputRequests).sort()).toEqual(['__proto__', 'constructor'])
    const responses = JSON.parse(
      '{"__proto__":{"action":"accept","content":{"answer":"p"}},"constructor":{"action":"accept","content":{"answer":"c"}}}',
    )
    expect(textOf(await answered('both', requestState, responses))).toBe('["p","c"]')
  })

  it('takes answers that come before the questions, and asks for the others', async () => {
    const first = { one: { action: 'accept', content: { answer: '1' } } }
    const { result } = await answered('twice', undefined, first)
    expect(Object.keys(result.inputRequests)).toEqual(['two'])
    const both = { ...first, two: { action: 'accept', content: { answer: '2' } } }
    expect(textOf(await answered('twice', undefined, both))).toBe('["1","2"]')
  })

  const APPROVED = { action: 'accept', content: { decision: 'approve' } }

  it('pays once a person has approved, and not before', async () => {
    const early = await answered('pays', undefined, { 'approve:pay': { action: 'accept' } })
    expect(early.result.resultType).toBe('input_required')
    const [key = ''] = Object.keys(early.result.inputRequests)
    const approvedUnseen = await answered('pays', undefined, { [key]: APPROVED })
    expect(approvedUnseen.result.resultType).toBe('input_required')
    expect(textOf(await answered('pays', early.result.requestState, { [key]: APPROVED }))).toBe('paid 5')
  })

  it('pays nothing that a person has denied', async () => {
    const { inputRequests, requestState } = await ask('pays')
    const [key = ''] = Object.keys(inputRequests)
    const { result } = await answered('pays', requestState, { [key]: { action: 'decline' } })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result)).not.toContain('paid 5')
  })

  it('ends where a person wants to answer nothing', async () => {
    const { requestState } = await ask('size')
    const { status, result } = await answered('size', requestState, { size: { action: 'cancel' } })
    expect([status, result]).toMatchObject([200, { isError: true, resultType: 'complete' }])
    expect(textOf({ result })).toContain('Nobody has answered')
  })

  it('ends on a stream of a revision before, where a person wants to answer nothing', async () => {
    const capabilities = { elicitation: {} }
    const { headers } = await served.askLegacy('initialize', { protocolVersion: '2025-11-25', capabilities })
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    const stream = await served.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"size","arguments":{"input":"x"},"_meta":{"progressToken":1}}}',
      { headers: session },
    )
    let text = ''
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const asked = messagesIn(text).find(({ method }) => method === 'elicitation/create')
      if (asked === undefined) continue
      const answer = JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: { action: 'decline' } })
      expect((await served.post(answer, { headers: session })).status).toBe(202)
      text = text.replaceAll('elicitation/create', 'asked')
    }
    expect(messagesIn(text).at(-1).result.isError).toBe(true)
  })

  it('goes on once, however often it is answered', async () => {
    const { requestState } = await ask('size')
    const responses = { size: { action: 'accept', content: { answer: 7 } } }
    const told = await Promise.all(Array.from({ length: 5 }, () => answered('size', requestState, responses)))
    const runs = new Set(told.map(({ result }) => result?._meta?.['servable/runId']).filter(Boolean))
    expect(runs.size).toBe(1)
    for (const { status } of told) expect(status).toBeLessThan(500)
  })

  it('asks in words where no forms are shown, and goes on with text', async () => {
    const { result } = await served.call('twice')
    const [, handle = ''] = /`sessionId` `([^`]+)`/.exec(textOf({ result })) ?? []
    expect(textOf({ result })).toContain('one')
    const second = await served.call('twice', { input: 'first', sessionId: handle })
    const [, next = ''] = /`sessionId` `([^`]+)`/.exec(textOf(second)) ?? []
    expect(textOf(await served.call('twice', { input: 'second', sessionId: next }))).toBe(
      '["first","second"]',
    )
  })
})
