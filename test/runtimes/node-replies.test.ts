import { get, type IncomingMessage, request } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Platform } from '../../src/http/platform.ts'
import { type Fetch, type RunningServer, serve } from '../../src/runtimes/node.ts'
import { jsonReply, sseReply } from '../../src/web/reply.ts'
import { type PulledSource, pulled } from '../../src/web/sse.ts'
import { eventually } from '../eventually.ts'
import { never, turn } from '../support.ts'

let server: RunningServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** Serves what `answer` makes of the platform's own `respond`. */
async function serving(answer: (respond: NonNullable<Platform['respond']>) => Response): Promise<string> {
  const handler: Fetch = (_, platform) => answer(reply => (platform as Platform).respond!(reply))
  server = await serve(handler, { port: 0 })
  return server.url
}

/** A source that gives these messages and ends, or goes on with the last for ever. */
function sourceOf(messages: readonly string[], forever = false) {
  let index = 0
  const next = vi.fn(async () => messages[index++] ?? (forever ? messages.at(-1) : undefined))
  return { next, cancel: vi.fn() } satisfies PulledSource
}

/** The chunks of an answer, as the connection frames them. */
function chunksOf(url: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { connection: 'close' } })
    sent.once('socket', socket => {
      let text = ''
      socket.on('data', data => {
        text += data
      })
      socket.once('close', () => {
        const body = text.slice(text.indexOf('\r\n\r\n') + 4)
        resolve(body.split(/(?:^|\r\n)[\da-f]+\r\n/).filter(chunk => chunk.trim() !== ''))
      })
    })
    sent.once('error', reject)
    sent.end()
  })
}

const answerOf = (url: string) =>
  new Promise<IncomingMessage>((resolve, reject) => get(url, resolve).once('error', reject))

describe('a reply on Node', () => {
  it('is text with its length', async () => {
    const url = await serving(respond =>
      respond(jsonReply({ a: 'é' }, { status: 201, headers: { 'x-a': '1' } })),
    )
    const response = await fetch(url)
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-length')).toBe('10')
    expect(response.headers.get('x-a')).toBe('1')
    expect(await response.json()).toEqual({ a: 'é' })
  })

  it('is a response to whoever looks', async () => {
    let text: Promise<string> | undefined
    const url = await serving(respond => {
      const response = respond(jsonReply([1]))
      expect(response).toBeInstanceOf(Response)
      expect(response.status).toBe(200)
      text = response.clone().text()
      response.headers.set('x-b', '2')
      return response
    })
    const response = await fetch(url)
    expect(response.headers.get('x-b')).toBe('2')
    expect(await response.text()).toBe('[1]')
    expect(await text).toBe('[1]')
  })

  it('sends the messages of one turn as one chunk', async () => {
    const source = sourceOf(['data: 1\n\n', 'data: é\n\n', 'data: 3\n\n'])
    const url = await serving(respond => respond(sseReply(pulled(source))))
    expect(await chunksOf(url)).toEqual(['data: 1\n\ndata: é\n\ndata: 3\n\n'])
    expect(source.cancel).not.toHaveBeenCalled()
    // Three messages and the end, and nothing after it.
    expect(source.next).toHaveBeenCalledTimes(4)
  })

  it('sends each message as it comes', async () => {
    const waiting: ((message: string | undefined) => void)[] = []
    const next = () => new Promise<string | undefined>(resolve => waiting.push(resolve))
    const url = await serving(respond => respond(sseReply(pulled({ next, cancel() {} }))))
    const reader = (await fetch(url)).body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe(': open\n\n')
    waiting.shift()?.('data: 1\n\n')
    expect((await reader.read()).value).toBe('data: 1\n\n')
    await eventually(() => expect(waiting).toHaveLength(1))
    waiting.shift()?.('data: 2\n\n')
    expect((await reader.read()).value).toBe('data: 2\n\n')
    await eventually(() => expect(waiting).toHaveLength(1))
    waiting.shift()?.(undefined)
    expect((await reader.read()).done).toBe(true)
  })

  it('reads its source no further than a slow reader takes, and goes on when it takes more', async () => {
    const source = sourceOf([`data: ${'x'.repeat(1000)}\n\n`], true)
    const url = await serving(respond => respond(sseReply(pulled(source))))
    const answer = await answerOf(url)
    let asked = -1
    await eventually(() => {
      const before = asked
      asked = source.next.mock.calls.length
      expect(asked).toBe(before)
    })
    expect(asked).toBeGreaterThan(0)
    answer.resume()
    await eventually(() => expect(source.next.mock.calls.length).toBeGreaterThan(asked * 2))
    answer.destroy()
    await eventually(() => expect(source.cancel).toHaveBeenCalled())
  })

  it('leaves its source when the client leaves it', async () => {
    const source = { next: never, cancel: vi.fn() }
    const url = await serving(respond => respond(sseReply(pulled(source))))
    const answer = await answerOf(url)
    expect(source.cancel).not.toHaveBeenCalled()
    answer.destroy()
    await eventually(() => expect(source.cancel).toHaveBeenCalledTimes(1))
  })

  it('is a stream where middleware reads or wraps it', async () => {
    const source = sourceOf(['data: 1\n\n', 'data: 2\n\n'])
    const url = await serving(respond => {
      const response = respond(sseReply(pulled(source)))
      return new Response(response.body, response)
    })
    const response = await fetch(url)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n')
  })

  it('leaves its source where a wrapped stream is left', async () => {
    const source = sourceOf(['data: 1\n\n'], true)
    const url = await serving(respond => new Response(respond(sseReply(pulled(source))).body))
    const answer = await answerOf(url)
    answer.destroy()
    await eventually(() => expect(source.cancel).toHaveBeenCalled())
    await turn()
  })
})
