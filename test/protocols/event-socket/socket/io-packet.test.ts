import fc from 'fast-check'
import {
  Encoder,
  type PacketType,
  Decoder as ReferenceDecoder,
  type Packet as ReferencePacket,
} from 'socket.io-parser'
import { describe, expect, it } from 'vitest'
import {
  ACK,
  CONNECT,
  CONNECT_ERROR,
  Decoder,
  DISCONNECT,
  decodePacket,
  EVENT,
  encodeArguments,
  encodeControl,
  isEventName,
  MAX_ATTACHMENTS,
  type Packet,
} from '../../../../src/protocols/event-socket/socket/io/packet.ts'
import { MAX_JSON_DEPTH } from '../../../../src/web/json.ts'
import { randomPacket, seeded } from './frames.ts'

const encoder = new Encoder()

const nsp = fc.oneof(
  fc.constant('/'),
  fc
    .string({ minLength: 1, maxLength: 8 })
    .filter(name => !name.includes(','))
    .map(name => `/${name}`),
)
const id = fc.option(fc.nat(), { nil: undefined })
const bytes = fc.uint8Array({ maxLength: 16 })
const value = fc.oneof(
  fc.jsonValue(),
  bytes,
  fc.record({ bytes, list: fc.array(fc.oneof(bytes, fc.jsonValue()), { maxLength: 2 }) }),
)
const args = fc.array(value, { maxLength: 3 })
const event = fc.tuple(fc.string().filter(isEventName), args).map(([name, rest]) => [name, ...rest])

function parts(encoded: string | readonly unknown[]): unknown[] {
  return typeof encoded === 'string' ? [encoded] : [...encoded]
}

/** All that a decoder makes of some messages. */
function decodeAll(messages: readonly unknown[]): (Packet | 'invalid' | undefined)[] {
  const decoder = new Decoder(MAX_ATTACHMENTS)
  return messages.map(message => decoder.add(message as string | Uint8Array))
}

/** The packet that the reference makes of one text, or of a text with attachments; undefined where it throws. */
function reference(messages: readonly unknown[]): ReferencePacket | undefined {
  const decoder = new ReferenceDecoder()
  let packet: ReferencePacket | undefined
  decoder.on('decoded', decoded => {
    packet = decoded
  })
  try {
    for (const message of messages) decoder.add(message)
  } catch {
    return undefined
  }
  return packet
}

describe('encodeArguments', () => {
  it.each([
    ['events', EVENT, event],
    ['acknowledgements', ACK, args],
  ] as const)('writes %s as socket.io-parser does', (_, type, data) => {
    fc.assert(
      fc.property(nsp, id, data, (name, ackId, list) => {
        const own = parts(encodeArguments(type, name, ackId, list))
        const packet = { type: type as number as PacketType, nsp: name, data: structuredClone(list) }
        expect(own).toEqual(encoder.encode(ackId === undefined ? packet : { ...packet, id: ackId }))
      }),
    )
  })

  it('puts a prefix before the text alone', () => {
    expect(encodeArguments(EVENT, '/', undefined, ['a'], '4')).toBe('42["a"]')
    const data = new Uint8Array([1])
    expect(encodeArguments(ACK, '/n', 7, [data], '4')).toEqual([
      '461-/n,7[{"_placeholder":true,"num":0}]',
      data,
    ])
  })

  it('takes views and buffers of all kinds for bytes, and what `toJSON` gives for the rest', () => {
    const buffer = new Uint8Array([1, 2, 3, 4]).buffer
    const view = new DataView(buffer, 1, 2)
    const encoded = encodeArguments(EVENT, '/', undefined, [
      'e',
      buffer,
      view,
      new Date(0),
      { toJSON: () => 'x' },
    ])
    expect(encoded).toEqual([
      '52-["e",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1},"1970-01-01T00:00:00.000Z","x"]',
      new Uint8Array([1, 2, 3, 4]),
      new Uint8Array([2, 3]),
    ])
  })
})

describe('encodeControl', () => {
  it('writes the examples of the protocol', () => {
    expect(encodeControl(CONNECT, '/', undefined)).toBe('0')
    expect(encodeControl(CONNECT, '/admin', { sid: 'x' })).toBe('0/admin,{"sid":"x"}')
    expect(encodeControl(CONNECT_ERROR, '/', { message: 'Not authorized' })).toBe(
      '4{"message":"Not authorized"}',
    )
    expect(encodeControl(DISCONNECT, '/admin', undefined)).toBe('1/admin,')
  })
})

describe('Decoder', () => {
  it('reads what the encoder wrote, attachments and all', () => {
    fc.assert(
      fc.property(nsp, id, event, (name, ackId, data) => {
        const encoded = parts(encodeArguments(EVENT, name, ackId, data))
        fc.pre(encoded.length <= 11)
        const decoded = decodeAll(encoded)
        expect(decoded.slice(0, -1).every(item => item === undefined)).toBe(true)
        expect(decoded.at(-1)).toMatchObject({ type: EVENT, nsp: name, id: ackId })
        expect((decoded.at(-1) as { data: unknown[] }).data).toEqual(reference(encoded)?.data)
      }),
    )
  })

  it('agrees with socket.io-parser on frames that are random or mutated', () => {
    const random = seeded(2)
    let understood = 0
    for (let i = 0; i < 100_000; i++) {
      const text = randomPacket(random)
      const own = decodePacket(text)
      // Of a binary packet that has no attachments the reference waits for the first one.
      if (own === undefined || /^[56]0/.test(text)) continue
      understood++
      const attachments = Array.from({ length: own.attachments }, () => new Uint8Array([1]))
      const [packet] = decodeAll([text, ...attachments]).slice(-1)
      const theirs = reference([text, ...attachments])
      if (packet === 'invalid') expect(theirs, text).toBeUndefined()
      else expect({ id: undefined, data: undefined, ...theirs }, text).toMatchObject({ ...packet })
    }
    expect(understood).toBeGreaterThan(10_000)
  })

  it('understands everything that the reference does, but for what no encoder writes', () => {
    const random = seeded(3)
    // A first character that is no type, attachments that are no digits, blanks, numbers beyond exact ones.
    const loose = /^[^0-6]|^$|^[56](\d*[^\d-]|0*-|\d{3})|^[^[{"]*\s|\d{16}/
    for (let i = 0; i < 100_000; i++) {
      const text = randomPacket(random)
      if (decodePacket(text) !== undefined || loose.test(text)) continue
      const theirs = reference([text])
      // The protocol wants a payload in all packets but CONNECT and DISCONNECT; the reference does not mind.
      if (theirs !== undefined)
        expect([theirs.data, theirs.type > DISCONNECT], text).toEqual([undefined, true])
    }
  })

  it.each([
    ['an unknown type', 'abc'],
    ['a type alone', '2'],
    ['an event that is an object', '2{}'],
    ['an event without a name', '2[]'],
    ['an event with a name that is reserved', '2["disconnect"]'],
    ['an ack id that is none', '2abc["x"]'],
    ['an ack id beyond exact numbers', '299999999999999999["x"]'],
    ['an acknowledgement that is an object', '31{}'],
    ['a connect payload that is a list', '0[]'],
    ['a connect payload that is null', '0null'],
    ['a disconnect with a payload', '1{}'],
    ['JSON that is broken', '2["x"'],
    ['too many attachments', '511-["x"]'],
    ['attachments that are no number', '5x-["x"]'],
    ['attachments without an end', '51["x"]'],
  ])('refuses %s', (_, text) => {
    expect(new Decoder(MAX_ATTACHMENTS).add(text)).toBe('invalid')
  })

  it('refuses bytes that nobody announced, and text where bytes were announced', () => {
    expect(new Decoder(MAX_ATTACHMENTS).add(new Uint8Array())).toBe('invalid')
    expect(decodeAll(['51-["x",{"_placeholder":true,"num":0}]', '2["y"]'])).toEqual([undefined, 'invalid'])
  })

  it('has each attachment in one place alone: written out, it would be many times what was sent', () => {
    const placeholder = { _placeholder: true, num: 0 }
    const text = `51-["x",${JSON.stringify([placeholder, placeholder])}]`
    expect(decodeAll([text, new Uint8Array([1])])).toEqual([undefined, 'invalid'])
  })

  it.each([1, -1, 0.5, '0', null])('refuses a placeholder for attachment %s of one', num => {
    const text = `51-["x",${JSON.stringify({ _placeholder: true, num })}]`
    expect(decodeAll([text, new Uint8Array()])).toEqual([undefined, 'invalid'])
  })

  it('reads a packet of ten attachments, and one that announces none', () => {
    const placeholders = Array.from({ length: 10 }, (_, num) => ({ _placeholder: true, num }))
    const attachments = placeholders.map(({ num }) => new Uint8Array([num]))
    const decoded = decodeAll([`510-${JSON.stringify(['x', ...placeholders])}`, ...attachments])
    expect(decoded.at(-1)).toEqual({ type: EVENT, nsp: '/', id: undefined, data: ['x', ...attachments] })
    expect(decodeAll(['50-["x"]', '2["y"]']).every(packet => packet !== 'invalid')).toBe(true)
  })

  it('reads JSON as deep as may be, and refuses what is deeper', () => {
    const nested = (depth: number) =>
      `51-["x",${'['.repeat(depth)}{"_placeholder":true,"num":0}${']'.repeat(depth)}]`
    // The arguments and the placeholder count as well.
    expect(decodeAll([nested(MAX_JSON_DEPTH - 2), new Uint8Array()])[1]).toMatchObject({ type: EVENT })
    for (const depth of [MAX_JSON_DEPTH - 1, 6000]) expect(decodeAll([nested(depth)])).toEqual(['invalid'])
  })

  it('changes no prototype', () => {
    const text = '51-["x",{"__proto__":{"_placeholder":true,"num":0}}]'
    expect(decodeAll([text, new Uint8Array([7])])[1]).toMatchObject({ type: EVENT })
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  })
})
