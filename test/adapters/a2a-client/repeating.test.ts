import { describe, expect, it } from 'vitest'
import type { AgentConfig, ContentPart, RunEvent } from '../../../src/index.ts'
import { BASE, eventsOf, noting, remote, service } from './service.ts'

const TOKEN = 'token-1234567/+abc'
const headers = () => ({ authorization: `Bearer ${TOKEN}`, 'accept-language': 'german' })

/** What a run tells of an agent that got the token, without what nobody needs to know here. */
const heard = (run: AgentConfig['run'], more = {}) =>
  eventsOf(remote({ fetch: noting(service(run)).fetch, headers, ...more }))

const textIn = (events: readonly RunEvent[]) =>
  events.map(event => (event.type === 'text' ? event.text : '')).join('')

const characters = (text: string) =>
  async function* () {
    yield* text
  }

describe('a remote agent that repeats the token that it was sent', () => {
  it.each([
    ['whole', [`Your token is ${TOKEN}, sir`], 'Your token is [redacted], sir'],
    ['with its scheme', [`Bearer ${TOKEN}!`], '[redacted]!'],
    ['in an address', [`?token=${encodeURIComponent(TOKEN)}&x`], '?token=[redacted]&x'],
    ['in JSON', [JSON.stringify({ a: [TOKEN] })], '{"a":["[redacted]"]}'],
    [
      'in JSON with more escapes',
      ['{"a":"token-1234567\\/+abc","b":"token-1234567/\\u002Babc"}'],
      '{"a":"[redacted]","b":"[redacted]"}',
    ],
    ['in two pieces', ['It is token-12', '34567/+abc', ''], 'It is [redacted]'],
    ['in its last words', ['It is tok'], 'It is tok'],
  ])('tells it to nobody: %s', async (_, pieces, expected) => {
    const events = await heard(async function* () {
      yield* pieces
    })
    expect(textIn(events)).toBe(expected)
    expect(events.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
    expect(textIn(await heard(characters(pieces.join(''))))).toBe(expected)
  })

  it('tells what it said before it failed, and no more', async () => {
    const events: RunEvent[] = []
    const agent = remote({
      headers,
      fetch: noting(
        service(async function* () {
          yield 'It is tok'
          throw new Error(`not with ${TOKEN}`)
        }),
      ).fetch,
    })
    const reading = (async () => {
      for await (const event of agent.stream!('hi')) events.push(event)
    })()
    await expect(reading).rejects.toMatchObject({ code: 'provider_failed' })
    await expect(reading).rejects.not.toThrow(TOKEN)
    expect(textIn(events)).toBe('It is tok')
  })

  it('tells it in no artifact, message, step or question', async () => {
    const parts: readonly ContentPart[] = [
      { type: 'text', text: `x ${TOKEN}` },
      { type: 'data', data: { [TOKEN]: [{ deep: `"${TOKEN}"`, n: 1 }] } },
      { type: 'file', data: `https://f.example/?t=${TOKEN}`, mimeType: 'a/b', filename: TOKEN },
    ]
    const step = { type: 'step', id: 's', name: 'search' } as const
    const bodies: AgentConfig['run'][] = [
      async function* () {
        yield { type: 'message', parts, metadata: { of: TOKEN } }
      },
      async function* () {
        yield 'x'
        yield { type: 'message', parts: [{ type: 'text', text: TOKEN }] }
        yield {
          type: 'artifact',
          artifactId: 'a',
          name: TOKEN,
          description: TOKEN,
          parts,
          metadata: { of: TOKEN },
        }
      },
      async function* () {
        yield { ...step, status: 'started' }
        for (const text of `the ${TOKEN}`) yield { ...step, status: 'progress', text }
        yield { ...step, status: 'completed' }
      },
      async function* (_, { ask }) {
        yield* ask('size', { message: `Is it ${TOKEN}?`, schema: { const: TOKEN } })
      },
      () => ({ finishReason: 'rejected', text: `not with ${TOKEN}` }),
    ]
    for (const body of bodies) {
      const events = await heard(body)
      const said = events
        .map(event => (event.type === 'step' ? (event.text ?? '') : JSON.stringify(event)))
        .join('')
      expect(said).toContain('[redacted]')
      expect(said).not.toMatch(/token-1|1234567/)
    }
  })

  it('is heard at once, and word for word, where it repeats no token', async () => {
    const pieces = ['Bearer and german', ' are words; a token', ' is none.']
    const events = await heard(async function* () {
      yield* pieces
    })
    expect(textIn(events)).toBe(pieces.join(''))
    const short = await heard(characters('pin 12345'), { headers: () => ({ 'x-key': '12345' }) })
    expect(textIn(short)).toBe('pin 12345')
  })

  it('tells no key of its address', async () => {
    const url = `${BASE}/?api_key=key-of-address`
    const events = await heard(() => 'key-of-address', { url, headers: undefined })
    expect(textIn(events)).toBe('[redacted]')
  })

  it('tells no token that was sent earlier in the run', async () => {
    let count = 0
    const fresh = () => ({ authorization: `Bearer token-number-${++count}` })
    const events = await heard(() => 'token-number-1 and token-number-2', { headers: fresh })
    expect(textIn(events)).toBe('[redacted] and [redacted]')
  })
})
