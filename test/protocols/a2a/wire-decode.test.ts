import { describe, expect, it } from 'vitest'
import {
  DIALECTS,
  type Dialect,
  decodePart,
  type Json,
  messageOf,
  refusal,
  V1,
  V03,
  V03_REST,
} from './requests.ts'

const named = DIALECTS.map(dialect => [dialect.name, dialect] as const)

/** What every wire refuses in a message, and the field that it names (`*` is the name of the parts). */
const WRONG: readonly [what: string, (dialect: Dialect) => Json, field: string][] = [
  ['no parts', ({ parts }) => ({ [parts]: [] }), 'message.*'],
  ['parts that are missing', ({ parts }) => ({ [parts]: undefined }), 'message.*'],
  ['parts that are no array', ({ parts }) => ({ [parts]: 'hello' }), 'message.*'],
  ['an empty part', ({ parts }) => ({ [parts]: [{}] }), 'message.*.0'],
  ['a part that is null', ({ parts }) => ({ [parts]: [null] }), 'message.*.0'],
  ['a part that is text', ({ parts, text }) => ({ [parts]: [text('a'), 'b'] }), 'message.*.1'],
  [
    'two contents in a part',
    ({ parts, text, data }) => ({ [parts]: [{ ...data({}), ...text('a'), data: { data: {} } }] }),
    'message.*.0',
  ],
  [
    'text that is a number',
    ({ parts, text }) => ({ [parts]: [{ ...text(''), text: 1 }] }),
    'message.*.0.text',
  ],
  ['no role', () => ({ role: undefined }), 'message.role'],
  ['a role that is null', () => ({ role: null }), 'message.role'],
  ['a role of its own making', () => ({ role: 'system' }), 'message.role'],
  ['a role by number', () => ({ role: 1 }), 'message.role'],
  ['the role that stands for none', () => ({ role: 'ROLE_UNSPECIFIED' }), 'message.role'],
  ['no messageId', () => ({ messageId: undefined }), 'message.messageId'],
  ['an empty messageId', () => ({ messageId: '' }), 'message.messageId'],
  ['a messageId that is a number', () => ({ messageId: 7 }), 'message.messageId'],
  ['a contextId that is a number', () => ({ contextId: 7 }), 'message.contextId'],
  ['a taskId that is an object', () => ({ taskId: {} }), 'message.taskId'],
  ['metadata that are an array', () => ({ metadata: [] }), 'message.metadata'],
  ['extensions that are text', () => ({ extensions: 'x' }), 'message.extensions'],
  ['a reference that is a number', () => ({ referenceTaskIds: [1] }), 'message.referenceTaskIds.0'],
]

/** What every wire refuses beside the message. */
const WRONG_AROUND: readonly [what: string, Json, field: string][] = [
  ['a configuration that is text', { configuration: 'x' }, 'configuration'],
  ['a negative historyLength', { configuration: { historyLength: -1 } }, 'configuration.historyLength'],
  ['half a historyLength', { configuration: { historyLength: 0.5 } }, 'configuration.historyLength'],
  [
    'a historyLength of 32 bits',
    { configuration: { historyLength: 2 ** 31 } },
    'configuration.historyLength',
  ],
  [
    'output modes that are text',
    { configuration: { acceptedOutputModes: 'x' } },
    'configuration.acceptedOutputModes',
  ],
  ['metadata that are text', { metadata: 'x' }, 'metadata'],
]

const NOT_OBJECTS = [undefined, null, 'text', 7, true, [], [{}]]

describe.each(named)('decode.send of %s', (_, dialect) => {
  const send = (members: Json) => dialect.wire.decode.send(members)

  it('reads the least that a message needs', () => {
    const { message, configuration } = send({ message: messageOf(dialect) })
    expect(message).toEqual({ messageId: 'm-1', role: 'user', parts: [{ text: 'hello' }] })
    expect(configuration).toEqual({ returnImmediately: false })
  })

  it('reads everything that a message can hold', () => {
    const { message, metadata } = send({
      message: messageOf(dialect, {
        contextId: 'c',
        taskId: 't',
        metadata: { a: null },
        extensions: ['e'],
        referenceTaskIds: ['r'],
      }),
      metadata: { agentName: 'echo' },
    })
    expect(message).toMatchObject({ contextId: 'c', taskId: 't', metadata: { a: null }, extensions: ['e'] })
    expect(message.referenceTaskIds).toEqual(['r'])
    expect(metadata).toEqual({ agentName: 'echo' })
  })

  it('reads every kind of part', () => {
    expect(decodePart(dialect, dialect.text(''))).toEqual({ text: '' })
    expect(decodePart(dialect, dialect.raw('AAEC'))).toEqual({ raw: 'AAEC', mediaType: 'text/plain' })
    expect(decodePart(dialect, dialect.url('https://a.example/x'))).toEqual({ url: 'https://a.example/x' })
    expect(decodePart(dialect, dialect.data({ a: [1] }))).toEqual({ data: { a: [1] } })
  })

  it.each([
    ['AA==', 'AA=='],
    ['AA', 'AA=='],
    ['-_-_', '+/+/'],
    ['', ''],
    ['AAE', 'AAE='],
  ])('reads the base64 %j as %j', (sent, read) => {
    expect(decodePart(dialect, dialect.raw(sent))?.raw).toBe(read)
  })

  it.each(['A', 'AA=A', 'AAAA====', 'a b', 'ä', '!'])('refuses %j as base64', sent => {
    expect(refusal(() => decodePart(dialect, dialect.raw(sent)))?.code).toBe('invalid_params')
  })

  it('takes empty ids and null for fields that are not set', () => {
    const sent = messageOf(dialect, { contextId: '', taskId: null, metadata: null, extensions: null })
    expect(send({ message: sent, configuration: null, metadata: null }).message).toEqual({
      messageId: 'm-1',
      role: 'user',
      parts: [{ text: 'hello' }],
    })
  })

  it('ignores what it does not know', () => {
    const sent = messageOf(dialect, { [dialect.parts]: [{ ...dialect.text('a'), colour: 'red' }], mood: 1 })
    const { message } = send({ message: sent, more: {}, configuration: { speed: 1 } })
    expect(message).toEqual({ messageId: 'm-1', role: 'user', parts: [{ text: 'a' }] })
  })

  it.each(WRONG)('refuses %s', (_, members, field) => {
    const refused = refusal(() => send({ message: messageOf(dialect, members(dialect)) }))
    expect(refused?.code).toBe('invalid_params')
    const path = field.replace('*', dialect.parts)
    expect(refused?.fields.some(name => name === path || name.startsWith(`${path}.`))).toBe(true)
    expect(refused?.message).toContain(`\`${path}`)
  })

  it.each(WRONG_AROUND)('refuses %s', (_, members, field) => {
    const refused = refusal(() => send({ message: messageOf(dialect), ...members }))
    expect(refused).toMatchObject({ code: 'invalid_params', fields: [field] })
  })

  it.each(NOT_OBJECTS)('refuses the params %j', params => {
    expect(refusal(() => dialect.wire.decode.send(params))?.code).toBe('invalid_params')
  })

  it('refuses a request without a message', () => {
    expect(refusal(() => send({}))).toMatchObject({ code: 'invalid_params', fields: ['message'] })
    expect(refusal(() => send({ message: 'hello' }))?.fields).toEqual(['message'])
  })

  it.each(named.filter(([name]) => name !== dialect.name))('refuses a message of %s', (_, other) => {
    expect(refusal(() => send({ message: messageOf(other) }))?.code).toBe('invalid_params')
  })
})

describe('what only one wire knows', () => {
  it('0.3 on HTTP+JSON takes the message under the name that it has in the file', () => {
    const { decode } = V03_REST.wire
    const message = messageOf(V03_REST)
    const configuration = { blocking: true }
    const sent = decode.send({ message, configuration, metadata: { a: 1 } })
    expect(decode.send({ request: message, configuration, metadata: { a: 1 } })).toEqual(sent)
    expect(decode.send({ request: { role: 'x' }, message })).toEqual(decode.send({ message }))
    expect(refusal(() => decode.send({ request: 5 }))?.fields).toEqual(['message'])
    expect(refusal(() => V1.wire.decode.send({ request: messageOf(V1) }))?.fields).toEqual(['message'])
  })

  it.each([null, 0, false, 'text', [1], { a: 1 }])('1.0 reads the data %j', data => {
    expect(decodePart(V1, { data })).toEqual({ data })
  })

  it.each([null, 0, false, 'text', [1]])('0.3 refuses the data %j', data => {
    expect(refusal(() => decodePart(V03, V03.data(data)))?.code).toBe('invalid_params')
    expect(refusal(() => decodePart(V03_REST, V03_REST.data(data)))?.code).toBe('invalid_params')
  })

  it('1.0 reads names and media types of any part', () => {
    const part = { text: 'a', mediaType: 'text/markdown', filename: 'a.md', metadata: { b: 1 } }
    expect(decodePart(V1, part)).toEqual(part)
    expect(decodePart(V1, { text: 'a', mediaType: '', filename: '' })).toEqual({ text: 'a' })
  })

  it('0.3 reads names and media types of files', () => {
    const neutral = { mediaType: 'a/b', filename: 'c', metadata: { d: 1 } }
    const about = { mimeType: 'a/b', name: 'c' }
    const jsonRpc = { kind: 'file', file: { uri: 'u:x', ...about }, metadata: { d: 1 } }
    expect(decodePart(V03, jsonRpc)).toEqual({ url: 'u:x', ...neutral })
    const rest = { file: { fileWithBytes: 'AA==', ...about }, metadata: { d: 1 } }
    expect(decodePart(V03_REST, rest)).toEqual({ raw: 'AA==', ...neutral })
  })

  it.each([
    { kind: 'text', data: {} },
    { kind: 'file', text: 'a' },
    { kind: 'file', file: {} },
    { kind: 'file', file: { bytes: 'AA==', uri: 'u:x' } },
    { kind: 'file', file: { uri: '' } },
    { kind: 'text', text: 'a', file: { uri: 'u:x' } },
    { kind: 'image', text: 'a' },
    { text: 'a' },
  ])('0.3 JSON-RPC refuses the part %j', part => {
    expect(refusal(() => decodePart(V03, part))?.code).toBe('invalid_params')
  })

  it.each([
    { file: {} },
    { file: { fileWithBytes: 'AA==', fileWithUri: 'u:x' } },
    { text: 'a', file: { fileWithUri: 'u:x' } },
    { data: {} },
    { data: { a: 1 } },
  ])('0.3 HTTP+JSON refuses the part %j', part => {
    expect(refusal(() => decodePart(V03_REST, part))?.code).toBe('invalid_params')
  })

  it('0.3 JSON-RPC takes a message without its kind, and none of another kind', () => {
    expect(V03.wire.decode.send({ message: messageOf(V03, { kind: undefined }) }).message.messageId).toBe(
      'm-1',
    )
    expect(
      refusal(() => V03.wire.decode.send({ message: messageOf(V03, { kind: 'task' }) }))?.fields,
    ).toEqual(['message.kind'])
  })

  it('0.3 unwraps data that is no object where the part says so', () => {
    const part = { kind: 'data', data: { value: [1] }, metadata: { data_part_compat: true } }
    expect(decodePart(V03, part)).toEqual({ data: [1] })
    expect(decodePart(V03, { ...part, metadata: { data_part_compat: true, a: 1 } })).toEqual({
      data: [1],
      metadata: { a: 1 },
    })
    expect(decodePart(V03, { ...part, metadata: {} })).toEqual({ data: { value: [1] }, metadata: {} })
    expect(decodePart(V03, { ...part, data: { other: 1 } })).toMatchObject({ data: { other: 1 } })
  })

  it.each([V1, V03_REST])('$name reads snake_case names of proto-JSON', dialect => {
    const { parts, text, user } = dialect
    const message = {
      message_id: 'm-1',
      role: user,
      [parts]: [text('a')],
      context_id: 'c',
      reference_task_ids: ['r'],
    }
    const configuration = { accepted_output_modes: ['text/plain'], history_length: '3' }
    const read = dialect.wire.decode.send({ message, configuration })
    expect(read.message).toMatchObject({ messageId: 'm-1', contextId: 'c', referenceTaskIds: ['r'] })
    expect(read.configuration).toMatchObject({ acceptedOutputModes: ['text/plain'], historyLength: 3 })
  })

  it('0.3 JSON-RPC reads neither snake_case names nor numbers as text', () => {
    const message = { ...messageOf(V03), messageId: undefined, message_id: 'm-1' }
    expect(refusal(() => V03.wire.decode.send({ message }))?.fields).toEqual(['message.messageId'])
    expect(refusal(() => V03.wire.decode.get({ id: 't', historyLength: '3' }))?.fields).toEqual([
      'historyLength',
    ])
  })
})

describe('whether a send waits', () => {
  it.each([
    [V1, undefined, false],
    [V1, {}, false],
    [V1, { returnImmediately: true }, true],
    [V1, { return_immediately: true }, true],
    [V03, undefined, false],
    [V03, {}, false],
    [V03, { blocking: true }, false],
    [V03, { blocking: false }, true],
    [V03_REST, undefined, false],
    // Protocol buffers cannot tell a false that is sent from one that is not.
    [V03_REST, {}, true],
    [V03_REST, { blocking: true }, false],
    [V03_REST, { blocking: false }, true],
  ])('$name with %j returns immediately: %s', (dialect, configuration, expected) => {
    const read = dialect.wire.decode.send({ message: messageOf(dialect), configuration })
    expect(read.configuration.returnImmediately).toBe(expected)
  })

  it.each([
    [V1, { returnImmediately: 'true' }],
    [V03, { blocking: 1 }],
    [V03_REST, { blocking: 'yes' }],
  ])('$name refuses %j', (dialect, configuration) => {
    expect(
      refusal(() => dialect.wire.decode.send({ message: messageOf(dialect), configuration })),
    ).toBeDefined()
  })
})

describe('push notification configs of a send', () => {
  it.each([
    [V1, 'taskPushNotificationConfig'],
    [V03, 'pushNotificationConfig'],
    [V03_REST, 'pushNotification'],
  ])('$name reads %s', (dialect, name) => {
    const version = dialect === V1 ? '1.0' : '0.3'
    const scheme = dialect === V1 ? { scheme: 'Bearer' } : { schemes: ['Bearer', 'Basic'] }
    const config = {
      id: 'a',
      url: 'https://a.example',
      token: 't',
      authentication: { ...scheme, credentials: 'c' },
    }
    const send = (value: unknown) =>
      dialect.wire.decode.send({ message: messageOf(dialect), configuration: { [name]: value } })
    expect(send(config).configuration.pushConfig).toEqual({
      id: 'a',
      url: 'https://a.example',
      token: 't',
      scheme: 'Bearer',
      credentials: 'c',
      version,
    })
    expect(send({ url: 'https://a.example' }).configuration.pushConfig).toEqual({
      url: 'https://a.example',
      version,
    })
    for (const wrong of [
      {},
      { url: 'none' },
      { url: 'https://a.example', authentication: { credentials: 'c' } },
    ]) {
      expect(refusal(() => send(wrong))).toMatchObject({ code: 'invalid_params' })
    }
    expect(send(undefined).configuration.pushConfig).toBeUndefined()
    expect(refusal(() => send('x'))?.fields).toEqual([`configuration.${name}`])
  })
})

describe('what sets a push notification config', () => {
  const url = 'https://a.example'

  it.each([
    [V1, (config: object) => config, ''],
    [V03, (config: object) => ({ pushNotificationConfig: config }), 'pushNotificationConfig.'],
    [V03_REST, (config: object) => ({ pushNotificationConfig: config }), 'pushNotificationConfig.'],
  ])('$name reads, and names what is wrong in it as it was sent', (dialect, holding, where) => {
    const set = (config: object, taskId?: string) =>
      dialect.wire.push.decode('set', { taskId, ...holding(config) })
    expect(set({ id: '', url }, 't')).toMatchObject({ act: 'set', taskId: 't', config: { url } })
    expect(refusal(() => set({ url: 'none' }, 't'))?.fields).toEqual([`${where}url`])
    expect(refusal(() => set({ id: 'x'.repeat(201), url }, 't'))?.fields).toEqual([`${where}id`])
    expect(refusal(() => set({ url }))?.fields).toEqual(['taskId'])
    expect(refusal(() => dialect.wire.push.decode('set', 'x'))?.code).toBe('invalid_params')
  })

  it.each(['..', 'x'.repeat(201)])('refuses a `configId` that no config may have', configId => {
    const params = { taskId: 't', configId, pushNotificationConfig: { url } }
    expect(refusal(() => V03_REST.wire.push.decode('set', params))?.fields).toEqual(['configId'])
  })
})
