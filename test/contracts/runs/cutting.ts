import { describe, expect, it } from 'vitest'
import { untimedText } from '../../support.ts'
import { jsonRequest } from '../http/client.ts'
import { acceptGated, ask, openGate, type Server, streamRequest, withoutComments } from './client.ts'

const path = '/api/agents/counts/stream'
const request = (count: number): RequestInit => jsonRequest({ input: String(count), background: true })

/** Where to cut: after this many events, and at which fraction of the next one (0 to 1). */
interface Cut {
  readonly events: number
  readonly into: number
}

/** The position of a cut in a stream. -1 if the stream has not reached it. */
function placeOf(text: string, { events, into }: Cut): number {
  let start = 0
  for (let index = 0; index < events; index++) {
    const end = text.indexOf('\n\n', start)
    if (end === -1) return -1
    start = end + 2
  }
  if (into === 0) return start
  const end = text.indexOf('\n\n', start)
  return end === -1 ? -1 : Math.floor(start + (end + 1 - start) * into)
}

/** Reads a stream up to the cut, and leaves. */
async function readTo(response: Response, cut: Cut): Promise<string> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (true) {
    const place = placeOf(withoutComments(text), cut)
    if (place !== -1) {
      await reader.cancel()
      return withoutComments(text).slice(0, place)
    }
    const { done, value } = await reader.read()
    if (done) throw new Error(`the stream ended before ${JSON.stringify(cut)}`)
    text += decoder.decode(value, { stream: true })
  }
}

/** The complete messages of a cut stream, and the last id, as a browser keeps it. */
function wholeOf(text: string): { whole: string; lastId: string | undefined } {
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 2)
  const lastId = [...(text.includes('\n\n') ? whole.matchAll(/^id: (\d+)$/gm) : [])].at(-1)?.[1]
  return { whole: lastId === undefined ? '' : whole, lastId }
}

async function resume(server: Server, id: string, lastId: string | undefined): Promise<Response> {
  const response = await streamRequest(server, id, lastId === undefined ? {} : { 'last-event-id': lastId })
  expect(response.status).toBe(200)
  return response
}

/** A stream that was cut, its parts joined, and the whole stream of the same run, read again. */
interface Joined {
  readonly joined: string
  readonly uncut: string
}

async function readAgain(server: Server, id: string): Promise<string> {
  return withoutComments(await (await streamRequest(server, id)).text())
}

/** Starts a run, cuts its stream while it is running, resumes it, and joins both parts. */
async function cutOnce(server: Server, count: number, cut: Cut): Promise<Joined> {
  const response = await fetch(`${server().url}${path}`, request(count))
  const id = response.headers.get('x-run-id') ?? ''
  const { whole, lastId } = wholeOf(await readTo(response, cut))
  const rest = await resume(server, id, lastId)
  const joined = whole + withoutComments(await rest.text())
  return { joined, uncut: await readAgain(server, id) }
}

/** Starts a run and cuts its stream after each event, at the boundary or inside the next event. */
async function cutAgainAndAgain(server: Server, count: number, into: number): Promise<Joined> {
  let response = await fetch(`${server().url}${path}`, request(count))
  const id = response.headers.get('x-run-id') ?? ''
  let joined = ''
  for (let index = 0; index < count; index++) {
    const { whole, lastId } = wholeOf(await readTo(response, { events: 1, into }))
    joined += whole
    response = await resume(server, id, lastId)
  }
  joined += withoutComments(await response.text())
  return { joined, uncut: await readAgain(server, id) }
}

async function eachAtOnce<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>) {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** The cases, for streams of `count` events. Their number of requests grows with its square. */
export function cuttingCases(server: Server, count: number): void {
  describe(`a stream of ${count} events that is cut and resumed`, () => {
    const uncut = async () => {
      const text = withoutComments(await (await fetch(`${server().url}${path}`, request(count))).text())
      const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
      expect(ids).toEqual(Array.from({ length: count + 1 }, (_, index) => index + 1))
      return text
    }
    const boundaries = Array.from({ length: count + 2 }, (_, events) => ({ events, into: 0 }))
    const insides = Array.from({ length: count + 1 }, (_, events) => ({
      events,
      // In the id, between the lines, in the data, and directly before the blank line that ends the event.
      into: [0.05, 0.15, 0.5, 1][events % 4]!,
    }))

    it.each([
      ['at every boundary', boundaries],
      ['inside every event', insides],
    ])(
      '%s equals the uncut one',
      async (_, cuts) => {
        const whole = await uncut()
        await eachAtOnce(cuts, 8, async cut => {
          const { joined, uncut: again } = await cutOnce(server, count, cut)
          // No two runs have the same times.
          const isSame = joined === again && untimedText(joined) === untimedText(whole)
          if (!isSame) expect(joined, JSON.stringify(cut)).toBe(again)
          expect(isSame, JSON.stringify(cut)).toBe(true)
        })
      },
      60_000,
    )

    it.each([
      ['at its boundary', 0],
      ['inside the next one', 0.5],
    ])('after each event %s, again and again, equals the uncut one', async (_, into) => {
      const { joined, uncut: again } = await cutAgainAndAgain(server, count, into)
      expect(joined).toBe(again)
      expect(untimedText(joined)).toBe(untimedText(await uncut()))
    })
  })

  describe('50 followers of one run', () => {
    it('see the same bytes, whenever they come', async () => {
      const { id, gate } = await acceptGated(server)
      const early = await Promise.all(Array.from({ length: 40 }, () => streamRequest(server, id)))
      await openGate(server, gate)
      const late = await Promise.all(Array.from({ length: 10 }, () => streamRequest(server, id)))
      const texts = await Promise.all([...early, ...late].map(response => response.text()))
      const streams = new Set(texts.map(withoutComments))
      expect([...streams].map(untimedText)).toEqual([
        'id: 1\ndata: {"type":"text","text":"before "}\n\n' +
          'id: 2\ndata: {"type":"text","text":"after"}\n\n' +
          'id: 3\ndata: {"type":"finish","finishReason":"stop"}\n\n',
      ])
    })

    it('see the same bytes of a run that never pauses', async () => {
      const started = await fetch(`${server().url}${path}`, request(count))
      const id = started.headers.get('x-run-id') ?? ''
      const responses = await Promise.all(Array.from({ length: 49 }, () => streamRequest(server, id)))
      const texts = await Promise.all([started, ...responses].map(response => response.text()))
      const streams = new Set(texts.map(withoutComments))
      expect(streams.size).toBe(1)
      expect((await ask(server, `/api/runs/${id}/stream?after=${count}`)).text).toContain('"finish"')
    })
  })
}
