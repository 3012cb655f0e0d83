import { describe, expect, it } from 'vitest'
import {
  atWork,
  type Call,
  callOf,
  cancel,
  expectError,
  type Fields,
  fetchCall,
  get,
  type Heard,
  hear,
  type Json,
  messageOf,
  noted,
  openGate,
  own,
  rpcCall,
  type Server,
  send,
  sendCall,
  TONGUES,
  type Tongue,
  tongues,
} from './client.ts'

const { rpc1, rpc03, rest1, rest03 } = TONGUES
const rpc: readonly (readonly [string, Tongue])[] = [
  [rpc1.name, rpc1],
  [rpc03.name, rpc03],
]
const rest: readonly (readonly [string, Tongue])[] = [
  [rest1.name, rest1],
  [rest03.name, rest03],
]

/** The state of an answer's task, in the answer's own words. */
function stateIn({ task }: Heard): unknown {
  const { state } = (task?.json.status ?? {}) as Json
  return state
}

/** A send with some members of its message replaced. */
function sendWith(tongue: Tongue, members: Json): Call {
  return callOf(tongue, 'send', { message: messageOf(tongue.dialect, members) })
}

/** Messages that no agent may see, by their fault. */
function wrongMessages({ dialect, generation }: Tongue): Record<string, Json> {
  const { parts, text, raw } = dialect
  const of = (...list: unknown[]) => ({ [parts]: list })
  const other = generation === '1.0' ? { kind: 'text', text: undefined } : { text: 1, kind: 'x' }
  return {
    'no parts': of(),
    'parts that are left out': { [parts]: undefined },
    'parts that are no array': { [parts]: text('hi') },
    'a part that is empty': of({}),
    'a part that is null': of(null),
    'a part of two contents': of({ ...text('hi'), ...raw('AAEC') }),
    'a part of a kind that is not known': of(other),
    'text that is a number': of({ ...text('hi'), text: 5 }),
    'bytes that are no base64': of(raw('***')),
    'a link that is a script': of(dialect.url(' java\nscript:alert(1)')),
    'a link that is another script': of(dialect.url('VBScript:x')),
    'no role': { role: undefined },
    'a role that is not known': { role: 'system' },
    'the role of the agent': {
      role: generation === '1.0' || dialect.user === 'ROLE_USER' ? 'ROLE_AGENT' : 'agent',
    },
    'no id': { messageId: undefined },
    'an id that is a number': { messageId: 5 },
    'an id that is empty': { messageId: '' },
    'a context that is a number': { contextId: 5 },
    'metadata that is text': { metadata: 'x' },
  }
}

export function inputCases(server: Server): void {
  describe.each(tongues)('a message that is wrong: %s', (_, tongue) => {
    it.each(Object.entries(wrongMessages(tongue)))('with %s is refused', async (_, members) => {
      expectError(tongue, await hear(server, tongue, sendWith(tongue, members)), 'invalidParams')
    })

    it('with no message at all is refused', async () => {
      for (const message of [undefined, null, {}, [], 'hi', 5]) {
        const call = callOf(tongue, 'send', { message: message as Json })
        expectError(tongue, await hear(server, tongue, call), 'invalidParams')
      }
    })

    it('with a media type that nobody takes is refused', async () => {
      const { dialect } = tongue
      const part = JSON.parse(JSON.stringify(dialect.raw('AAEC')).replace('text/plain', 'model/vrml'))
      const heard = await send(server, tongue, { parts: [part] })
      expectError(tongue, heard, 'contentTypeNotSupported')
    })

    it('of another generation is refused', async () => {
      const other = tongue.generation === '1.0' ? rpc03.dialect : rpc1.dialect
      const call = callOf(tongue, 'send', { message: messageOf(other) })
      expectError(tongue, await hear(server, tongue, call), 'invalidParams')
    })
  })

  it.each(tongues)('bytes that are no UTF-8 are a parse error: %s', async (_, tongue) => {
    const { path, init } = sendWith(tongue, {})
    const body = Buffer.from(String(init.body).replace('hello', '?'))
    body[body.indexOf('?')] = 0xff
    expectError(tongue, await hear(server, tongue, { path, init: { ...init, body } }), 'parseError')
  })

  it.each(rpc)('calls without an id of a task are refused: %s', async (_, tongue) => {
    for (const operation of ['get', 'cancel', 'subscribe'] as const) {
      for (const id of [undefined, '', 5 as unknown as string]) {
        expectError(tongue, await hear(server, tongue, callOf(tongue, operation, { id })), 'invalidParams')
      }
    }
  })
}

export function capabilityCases(server: Server): void {
  describe.each(tongues)('what is off: %s', (_, tongue) => {
    it.each(['setPush', 'getPush', 'listPush', 'deletePush'] as const)('%s says so', async operation => {
      const call = callOf(tongue, operation, { id: 'x' })
      expectError(tongue, await hear(server, tongue, call), 'pushNotSupported')
    })

    it('a message that wants pushes is refused', async () => {
      expectError(tongue, await send(server, tongue, { push: true }), 'pushNotSupported')
    })

    it('there is no extended card', async () => {
      const heard = await hear(server, tongue, callOf(tongue, 'extendedCard', {}))
      expectError(tongue, heard, 'extendedCardNotConfigured')
    })
  })
}

export function envelopeCases(server: Server): void {
  const hearRpc = (body: unknown, headers?: Fields) => hear(server, rpc1, rpcCall(body, headers))
  const params = { message: messageOf(rpc1.dialect) }
  const request = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }

  describe('an envelope of JSON-RPC', () => {
    it('that is no JSON is a parse error without an id', async () => {
      for (const body of ['', '{', 'null x', '\u0000']) {
        const error = expectError(rpc1, await hearRpc(body), 'parseError')
        expect(error.json).toMatchObject({ id: null })
      }
    })

    it.each([
      ['is no object', 'null'],
      ['is a number', '5'],
      ['is empty', '{}'],
      ['is a batch', JSON.stringify([request, request])],
      ['is an empty batch', '[]'],
      ['has another version', JSON.stringify({ ...request, jsonrpc: '1.0' })],
      ['has no version', JSON.stringify({ ...request, jsonrpc: undefined })],
      ['has no method', JSON.stringify({ ...request, method: undefined })],
      ['has a method that is a number', JSON.stringify({ ...request, method: 5 })],
      ['has an id that is an object', JSON.stringify({ ...request, id: {} })],
      ['has an id that is true', JSON.stringify({ ...request, id: true })],
      ['has an id that is a fraction', JSON.stringify({ ...request, id: 1.5 })],
      [
        'has an id that no number can hold',
        JSON.stringify(request).replace('"id":1', '"id":9007199254740993'),
      ],
      ['has an id below what numbers can hold', JSON.stringify(request).replace('"id":1', '"id":-1e999')],
    ])('that %s is refused', async (_, body) => {
      expectError(rpc1, await hearRpc(body), 'invalidRequest')
    })

    it('is answered with its id, in a refusal as well', async () => {
      for (const id of ['x', '', 0, 12]) {
        expect(JSON.parse((await hearRpc({ ...request, id })).text)).toMatchObject({ id })
        const refused = await hearRpc({ ...request, id, params: {} })
        expect(expectError(rpc1, refused, 'invalidParams').json).toMatchObject({ id })
        const unversioned = await hearRpc({ ...request, id, jsonrpc: '1.0' })
        expect(expectError(rpc1, unversioned, 'invalidRequest').json).toMatchObject({ id })
      }
    })

    it('has no id in the answer where JSON would change it', async () => {
      const body = JSON.stringify(request).replace('"id":1', '"id":9007199254740993')
      expect(expectError(rpc1, await hearRpc(body), 'invalidRequest').json).toMatchObject({ id: null })
      const largest = Number.MAX_SAFE_INTEGER
      expect(JSON.parse((await hearRpc({ ...request, id: largest })).text)).toMatchObject({ id: largest })
    })

    it('of an unknown method is refused', async () => {
      for (const method of [
        '',
        'x',
        'sendMessage',
        'message/Send',
        'tasks/list',
        'constructor',
        '__proto__',
      ]) {
        expectError(rpc1, await hearRpc({ ...request, method }), 'methodNotFound')
      }
    })

    it('of params that are no object is refused', async () => {
      for (const wrong of [null, 'x', 5, true, [], undefined]) {
        expectError(rpc1, await hearRpc({ ...request, params: wrong }), 'invalidParams')
      }
    })

    it('without an id gets no answer, and is done', async () => {
      const gate = own('gate')
      const message = messageOf(rpc1.dialect, {
        messageId: gate,
        parts: [{ text: gate }],
        metadata: { agentName: 'gated' },
      })
      const configuration = { returnImmediately: true }
      const { id: _, ...notification } = { ...request, params: { message, configuration } }
      for (const body of [
        notification,
        { ...notification, method: 'nowhere' },
        { ...notification, params: {} },
      ]) {
        const heard = await hearRpc(body)
        expect([heard.status, heard.text]).toEqual([204, ''])
      }
      await noted(server, `${gate} started`)
      await openGate(server, gate)
    })

    it('of 0.3 without an id is answered where it is wrong, as no method of 0.3 makes sense so', async () => {
      const old = { jsonrpc: '2.0', method: 'message/send' }
      const wrong = await hear(server, rpc03, rpcCall({ ...old, params: {} }))
      expect(expectError(rpc03, wrong, 'invalidParams').json).toMatchObject({ id: null })
      const unknown = await hear(server, rpc03, rpcCall({ ...old, method: 'message/shout' }))
      expect(expectError(rpc03, unknown, 'methodNotFound').json).toMatchObject({ id: null })
    })

    it('of 0.3 that wants a stream is refused in a stream', async () => {
      const call = callOf(rpc03, 'subscribe', { id: 'nowhere' })
      const heard = await hear(server, rpc03, call)
      expectError(rpc03, heard, 'taskNotFound')
      expect(heard.headers.get('content-type')).toBe('text/event-stream')
      const newer = await hear(server, rpc1, callOf(rpc1, 'subscribe', { id: 'nowhere' }))
      expectError(rpc1, newer, 'taskNotFound')
      expect(newer.headers.get('content-type')).toBe('application/json')
    })

    it('of another content type is refused', async () => {
      for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x']) {
        const heard = await hearRpc(request, { 'content-type': type })
        expectError(rpc1, heard, 'contentTypeNotSupported')
      }
    })

    it('is taken with parameters of its content type', async () => {
      const heard = await hearRpc(request, { 'content-type': 'Application/JSON; charset=utf-8' })
      expect(heard.task?.state).toBe('completed')
    })
  })

  describe.each(rest)('a request of HTTP+JSON: %s', (_, tongue) => {
    const { path, init } = sendCall(tongue, { text: 'hi' })
    const typed = (type: string, accept = '*/*') =>
      hear(server, tongue, { path, init: { ...init, headers: { 'content-type': type, accept } } })

    it('of another content type is refused', async () => {
      expectError(tongue, await typed('text/plain'), 'contentTypeNotSupported', 415)
    })

    it('may be application/a2a+json, and is answered so where that is accepted', async () => {
      const plain = await typed('application/a2a+json')
      expect(plain.headers.get('content-type')).toBe('application/json')
      const typedBack = await typed('application/a2a+json', 'application/a2a+json')
      expect(typedBack.headers.get('content-type')).toBe('application/a2a+json')
      expect(typedBack.task?.state).toBe('completed')
    })

    it('that is no JSON is refused', async () => {
      const heard = await hear(server, tongue, { path, init: { ...init, body: '{' } })
      expect(heard.status).toBe(400)
      expectError(tongue, heard, tongue.generation === '1.0' ? 'invalidRequest' : 'parseError')
    })

    it('of an unknown verb is refused', async () => {
      for (const [method, wrong] of [
        ['POST', '/message:shout'],
        ['POST', '/tasks/x:shout'],
        ['POST', '/tasks/x'],
        ['GET', '/tasks/x:cancel'],
        ['POST', '/message:constructor'],
      ] as const) {
        const call = { path: `${tongue.prefix}${wrong}`, init: { ...init, body: null, method } }
        const response = await fetchCall(server, call)
        await response.text()
        expect(response.status).toBe(404)
      }
    })
  })

  describe('the version of a request', () => {
    const heard = (tongue: Tongue, version: string, query = '') => {
      const { path, init } = sendCall(tongue, { headers: { 'a2a-version': version } })
      return hear(server, tongue, { path: path + query, init })
    }

    it.each(tongues)(
      'of its own generation is taken, patch numbers and none as well: %s',
      async (_, tongue) => {
        const own = tongue.generation === '1.0' ? ['1.0', '1.0.0', '1.0.1'] : ['0.3', '0.3.0', '0.2.5', '']
        for (const version of own) expect((await heard(tongue, version)).task?.state).toBe('completed')
      },
    )

    it.each(tongues)('that nobody serves is refused: %s', async (_, tongue) => {
      for (const version of ['2.0', '0.1', '1.1', '1', 'x', '1.0.x', '-1.0']) {
        expectError(tongue, await heard(tongue, version), 'versionNotSupported')
      }
      expectError(tongue, await heard(tongue, '', '?A2A-Version=2.0'), 'versionNotSupported')
    })

    it('is told in the query as well', async () => {
      expect((await heard(rest1, '', '?A2A-Version=1.0')).task?.state).toBe('completed')
    })
  })

  describe('one task', () => {
    it.each(tongues)('is told in the words of the asker: %s', async (_, tongue) => {
      const { id, gate } = await atWork(server, tongue)
      const answers = await Promise.all([
        get(server, rpc1, id),
        get(server, rpc03, id),
        get(server, rest03, id),
      ])
      expect(answers.map(stateIn)).toEqual(['TASK_STATE_WORKING', 'working', 'TASK_STATE_WORKING'])
      await cancel(server, tongue, id)
      const canceled = await Promise.all([
        get(server, rpc1, id),
        get(server, rpc03, id),
        get(server, rest03, id),
      ])
      expect(canceled.map(stateIn)).toEqual(['TASK_STATE_CANCELED', 'canceled', 'TASK_STATE_CANCELLED'])
      await openGate(server, gate)
    })
  })
}
