/** Random and mutated frames. The same seed gives the same frames. */

/** Integers below `below`, evenly distributed (mulberry32). */
export type Random = (below: number) => number

/** Makes the generator of a seed. */
export function seeded(seed: number): Random {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below)
  }
}

/** Valid Socket.IO packets of every kind, and some that are almost valid. */
const PACKETS = [
  '0',
  '0{"token":"123"}',
  '0/admin,{"sid":"oSO0OpakMV_3jnilAAAA"}',
  '0/custom',
  '1',
  '1/admin,',
  '2["foo"]',
  '212["foo",1,{"a":[null,true]}]',
  '2/admin,["bar"]',
  '3/admin,13["bar"]',
  '30[]',
  '4{"message":"Not authorized"}',
  '44"text"',
  '51-["baz",{"_placeholder":true,"num":0}]',
  '52-/admin,["baz",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]',
  '51-["baz",{"_placeholder":true,"num":7}]',
  '61-15["bar",{"_placeholder":true,"num":0}]',
  '510-["many"]',
  '511-["too many"]',
  '50-["none"]',
  '2["__proto__",{"__proto__":{"_placeholder":true,"num":0}}]',
  `51-["deep",${'['.repeat(500)}${']'.repeat(500)}]`,
]

const PIECES = [
  '/',
  ',',
  '-',
  '[',
  ']',
  '{',
  '}',
  '"',
  '0',
  '9',
  '_placeholder',
  '\x1e',
  'b',
  '\u0000',
  '😀',
  ' ',
  '1e0',
]

/** A Socket.IO packet: valid, mutated, or random noise. */
export function randomPacket(random: Random): string {
  if (random(5) === 0) return noise(random)
  let packet = PACKETS[random(PACKETS.length)]!
  for (let times = random(4); times > 0; times--) packet = mutate(packet, random)
  return packet
}

/** An Engine.IO frame: text, mostly messages, or bytes. */
export function randomFrame(random: Random): string | Uint8Array {
  const kind = random(10)
  if (kind === 0) return new Uint8Array(random(8))
  if (kind === 1) return `${random(10)}${noise(random)}`
  return kind === 2 ? noise(random) : `4${randomPacket(random)}`
}

function noise(random: Random): string {
  let text = ''
  for (let length = random(12); length > 0; length--) {
    text += random(3) === 0 ? String.fromCharCode(random(65_536)) : PIECES[random(PIECES.length)]
  }
  return text
}

function mutate(text: string, random: Random): string {
  const at = random(text.length + 1)
  switch (random(3)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + random(3))
    case 1:
      return text.slice(0, at) + PIECES[random(PIECES.length)] + text.slice(at)
    default:
      return text.slice(0, at) + String.fromCharCode(32 + random(96)) + text.slice(at + 1)
  }
}
