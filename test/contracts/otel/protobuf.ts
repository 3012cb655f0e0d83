/** Reads traces in Protobuf, as OTLP over HTTP has them (OTLP 1.9, "Binary Protobuf Encoding"). */
import type { Received } from './receiver.ts'

/** The names and the texts among the attributes of the spans in an `ExportTraceServiceRequest`. */
export function spansInProtobuf(body: Uint8Array): Pick<Received, 'name' | 'attributes'>[] {
  const spans = [body].flatMap(all(1)).flatMap(all(2)).flatMap(all(2))
  return spans.map(span => ({ name: textIn(span, 5) ?? '', attributes: attributesIn(all(9)(span)) }))
}

/** The texts among the attributes of the resources. */
export function resourceInProtobuf(body: Uint8Array): Readonly<Record<string, unknown>> {
  return attributesIn([body].flatMap(all(1)).flatMap(all(1)).flatMap(all(1)))
}

function attributesIn(pairs: readonly Uint8Array[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(pair => [textIn(pair, 1), textIn(all(2)(pair)[0]!, 1)]))
}

function textIn(message: Uint8Array, field: number): string | undefined {
  const [bytes] = all(field)(message)
  return bytes && new TextDecoder().decode(bytes)
}

/** All values of a field of a message that have a length: texts and messages. */
const all =
  (wanted: number) =>
  (message: Uint8Array): Uint8Array[] => {
    const found: Uint8Array[] = []
    for (let at = 0; at < message.length; ) {
      const tag = varintAt(message, at)
      const [field, type] = [Math.floor(tag.value / 8), tag.value % 8]
      const next = type === 0 || type === 2 ? varintAt(message, tag.end) : { value: 0, end: tag.end }
      // Types 1 and 5 are numbers of 64 and 32 bits, 0 is a number alone, and 2 has its length before it.
      const length = { 0: 0, 1: 8, 2: next.value, 5: 4 }[type]!
      at = next.end + length
      if (type === 2 && field === wanted) found.push(message.subarray(next.end, at))
    }
    return found
  }

function varintAt(message: Uint8Array, at: number): { value: number; end: number } {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = message[at++]!
    value += (byte & 127) * factor
    if (byte < 128) return { value, end: at }
  }
}
