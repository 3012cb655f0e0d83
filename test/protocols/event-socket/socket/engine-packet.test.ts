import {
  decodePayload as decodeReference,
  encodePayload as encodeReference,
  type RawData,
} from 'engine.io-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodePayload,
  encodePayload,
  type Frame,
  isFrame,
  messageFrame,
} from '../../../../src/protocols/event-socket/socket/engine/packet.ts'
import { fromBase64, toBase64 } from '../../../../src/web/base64.ts'
import { codePoint } from '../../../code-point.ts'
import { randomFrame, seeded } from './frames.ts'

const TYPES = ['open', 'close', 'ping', 'pong', 'message', 'upgrade', 'noop'] as const

const text = fc.string({ unit: codePoint }).filter(value => !value.includes('\x1e'))
const bytes = fc.uint8Array({ maxLength: 64 })
const frame: fc.Arbitrary<Frame> = fc.oneof(
  bytes,
  fc.tuple(fc.nat({ max: 6 }), text).map(([type, data]) => `${type}${data}`),
)

/** What the reference makes of a frame's packet. */
function packetOf(own: Frame) {
  if (typeof own !== 'string') return { type: 'message' as const, data: Buffer.from(own) as RawData }
  const data = own.length > 1 ? { data: own.slice(1) } : {}
  return { type: TYPES[Number(own[0])]!, ...data }
}

describe('encodePayload', () => {
  it('writes what engine.io-parser writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 8 }), async frames => {
        const reference = await new Promise<string>(resolve => encodeReference(frames.map(packetOf), resolve))
        expect(encodePayload(frames)).toBe(reference)
      }),
    )
  })
})

describe('decodePayload', () => {
  it('reads what it wrote', () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 8 }), frames => {
        expect(decodePayload(encodePayload(frames))).toEqual(frames)
      }),
    )
  })

  it('reads what engine.io-parser reads, of frames that are random or mutated', () => {
    const random = seeded(1)
    for (let i = 0; i < 50_000; i++) {
      const parts = Array.from({ length: 1 + random(3) }, () => randomFrame(random))
      const payload = parts.map(part => (typeof part === 'string' ? part : `b${toBase64(part)}`)).join('\x1e')
      const own = decodePayload(payload)
      const reference = decodeReference(payload)
      const isBroken = reference.some(({ type }) => type === 'error')
      // The reference takes any text for base64 and leaves out what is none.
      if (own === undefined) expect(isBroken || `\x1e${payload}`.includes('\x1eb'), payload).toBe(true)
      else expect(reference).toEqual(own.map(packetOf))
    }
  })

  it.each([
    ['no type', ''],
    ['a type that is not known', '7'],
    ['text', 'abc'],
    ['an empty packet among others', '4a\x1e\x1e4b'],
    ['a separator at the end', '4a\x1e'],
    ['broken base64', 'bA?=='],
  ])('gives nothing for %s', (_, payload) => {
    expect(decodePayload(payload)).toBeUndefined()
  })

  it('reads the examples of the protocol', () => {
    expect(decodePayload('4hello\x1e2\x1e4world')).toEqual(['4hello', '2', '4world'])
    expect(decodePayload('4hello\x1ebAQIDBA==')).toEqual(['4hello', new Uint8Array([1, 2, 3, 4])])
  })
})

describe('messageFrame', () => {
  it('puts the type before text, and leaves bytes as they are', () => {
    expect(messageFrame('hello')).toBe('4hello')
    const data = new Uint8Array([1])
    expect(messageFrame(data)).toBe(data)
  })
})

describe('isFrame', () => {
  it('knows the seven types, and that bytes are a message', () => {
    expect(['0', '6', '4x'].map(isFrame)).toEqual([true, true, true])
    expect(['', '7', 'b', '/'].map(isFrame)).toEqual([false, false, false, false])
    expect(isFrame(new Uint8Array())).toBe(true)
  })
})

describe('base64', () => {
  it('gives back all bytes, many of them too', () => {
    const many = Uint8Array.from({ length: 100_000 }, (_, i) => i % 256)
    expect(fromBase64(toBase64(many))).toEqual(many)
    expect(toBase64(many)).toBe(Buffer.from(many).toString('base64'))
  })
})
