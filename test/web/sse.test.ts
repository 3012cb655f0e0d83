import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  KEEP_ALIVE_MS,
  type PulledSource,
  pulled,
  SSE_HEADERS,
  sseMessage,
  sseStream,
} from '../../src/web/sse.ts'
import { codePoint } from '../code-point.ts'
import { never, turn } from '../support.ts'

/** Reads a text as a browser would. */
function parse(text: string): { messages: EventSourceMessage[]; comments: string[]; errors: unknown[] } {
  const parsed = { messages: [] as EventSourceMessage[], comments: [] as string[], errors: [] as unknown[] }
  const parser = createParser({
    onEvent: message => parsed.messages.push(message),
    onComment: comment => parsed.comments.push(comment),
    onError: error => parsed.errors.push(error),
  })
  parser.feed(text)
  return parsed
}

/** A source that gives these messages, each when it is asked for. */
function sourceOf(messages: Iterable<string>) {
  const iterator = messages[Symbol.iterator]()
  const next = vi.fn(async () => {
    const { done, value } = iterator.next()
    return done === true ? undefined : value
  })
  return { next, cancel: vi.fn() } satisfies PulledSource
}

/** A source whose messages are pushed from outside. */
function pushable() {
  const waiting: ((message: string | undefined) => void)[] = []
  const next = () => new Promise<string | undefined>(resolve => waiting.push(resolve))
  return { next, cancel: vi.fn(), push: (message: string | undefined) => waiting.shift()?.(message) }
}

const readAll = (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

function* endless(message: string) {
  while (true) yield message
}

afterEach(() => {
  vi.useRealTimers()
})

describe('sseMessage', () => {
  it('has an id, one line of data and a blank line', () => {
    expect(sseMessage(3, '{"a":1}')).toBe('id: 3\ndata: {"a":1}\n\n')
  })

  it('brings any JSON back as it was', () => {
    const breaking = fc.string({
      unit: fc.constantFrom('\n', '\r', '\u2028', '\u2029', '\u0085', '\0', ':', ' ', '"', 'é', '😀'),
    })
    fc.assert(
      fc.property(fc.array(fc.oneof(breaking, fc.jsonValue(), fc.string({ unit: codePoint }))), values => {
        const text = values.map((value, index) => sseMessage(index + 1, JSON.stringify(value))).join('')
        const { messages, errors } = parse(text)
        expect(errors).toEqual([])
        expect(messages.map(({ data }) => JSON.parse(data))).toEqual(JSON.parse(JSON.stringify(values)))
        expect(messages.map(({ id }) => id)).toEqual(values.map((_, index) => String(index + 1)))
      }),
    )
  })
})

describe('pulled', () => {
  it('says why its source broke, leaves it and ends', async () => {
    const next = vi.fn(async () => {
      if (next.mock.calls.length > 1) throw new Error('lost')
      return 'data: 1\n\n'
    })
    const cancel = vi.fn()
    const broken = (error: unknown) => `data: ${String(error)}\n\n`
    expect(await readAll(sseStream(pulled({ next, cancel, broken })))).toBe(
      'data: 1\n\ndata: Error: lost\n\n',
    )
    expect(cancel).toHaveBeenCalledOnce()
    expect(next).toHaveBeenCalledTimes(2)
  })

  it('ends without a word if its source does not say why it broke', async () => {
    const cancel = vi.fn()
    expect(await readAll(sseStream(pulled({ next: () => Promise.reject('lost'), cancel })))).toBe('')
    expect(cancel).toHaveBeenCalledOnce()
  })
})

describe('sseStream', () => {
  it('writes the messages of its source, then closes', async () => {
    const source = sourceOf(['data: é\n\n', 'data: 2\n\n'])
    expect(await readAll(sseStream(pulled(source)))).toBe('data: é\n\ndata: 2\n\n')
    expect(source.cancel).not.toHaveBeenCalled()
  })

  it('writes each message as it comes', async () => {
    const source = pushable()
    const reader = sseStream(pulled(source)).getReader()
    const reading = reader.read()
    await turn()
    source.push('data: 1\n\n')
    expect(new TextDecoder().decode((await reading).value)).toBe('data: 1\n\n')
    await reader.cancel()
  })

  it('reads its source no further than 16 KiB ahead of a reader that does not read', async () => {
    const message = 'x'.repeat(1024)
    const source = sourceOf(endless(message))
    const stream = sseStream(pulled(source))
    await turn()
    expect(source.next.mock.calls.length).toBeLessThanOrEqual(16)
    const reader = stream.getReader()
    let length = 0
    for (let i = 0; i < 8; i++) length += (await reader.read()).value?.byteLength ?? 0
    await turn()
    const ahead = source.next.mock.calls.length - length / 1024
    expect(ahead).toBeGreaterThan(8)
    expect(ahead).toBeLessThanOrEqual(16)
    await reader.cancel()
  })

  it('goes on reading its source while the reader keeps up', async () => {
    const count = 5000
    const source = sourceOf(Array.from({ length: count }, (_, id) => sseMessage(id, '{}')))
    expect(parse(await readAll(sseStream(pulled(source)))).messages).toHaveLength(count)
  })

  it('cancels its source when the reader leaves, and reads no more', async () => {
    const source = pushable()
    const next = vi.spyOn(source, 'next')
    const reader = sseStream(pulled(source)).getReader()
    void reader.read()
    await turn()
    await reader.cancel()
    expect(source.cancel).toHaveBeenCalledTimes(1)
    source.push('late')
    await turn()
    expect(next).toHaveBeenCalledTimes(1)
  })

  it('sends a comment in every silence, and none while messages come', async () => {
    vi.useFakeTimers()
    const source = pushable()
    const reader = sseStream(pulled(source)).getReader()
    const chunks: string[] = []
    const reading = (async () => {
      for (let item = await reader.read(); !item.done; item = await reader.read()) {
        chunks.push(new TextDecoder().decode(item.value))
      }
    })()
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE_MS)
    expect(chunks).toEqual([': open\n\n', ': keep-alive\n\n'])
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE_MS - 1)
    source.push('data: 1\n\n')
    await vi.advanceTimersByTimeAsync(1)
    expect(chunks.slice(2)).toEqual(['data: 1\n\n'])
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE_MS)
    expect(chunks.slice(3)).toEqual([': keep-alive\n\n'])
    source.push(undefined)
    await reading
    expect(parse(chunks.join(''))).toMatchObject({
      messages: [{ data: '1' }],
      comments: ['open', 'keep-alive', 'keep-alive'],
    })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps every silence shorter than 10 s, after which Bun cuts a response', async () => {
    expect(KEEP_ALIVE_MS).toBeLessThan(10_000)
    vi.useFakeTimers()
    const source = pushable()
    const reader = sseStream(pulled(source)).getReader()
    const chunks: string[] = []
    const reading = (async () => {
      for (let item = await reader.read(); !item.done; item = await reader.read())
        chunks.push(new TextDecoder().decode(item.value))
    })()
    // Right before and right after the source is looked at.
    for (const before of [0, KEEP_ALIVE_MS / 2 - 1, 2]) {
      await vi.advanceTimersByTimeAsync(before)
      source.push('data: 1\n\n')
      await vi.advanceTimersByTimeAsync(KEEP_ALIVE_MS)
      const afterIt = chunks.splice(0).slice(-2)
      expect(afterIt).toEqual(['data: 1\n\n', ': keep-alive\n\n'])
    }
    source.push(undefined)
    await reading
  })

  it('closes though its last message is empty', async () => {
    expect(await readAll(sseStream(pulled(sourceOf(['data: 1\n\n', '', '']))))).toBe('data: 1\n\n')
  })

  it('piles up no comments for a reader that does not read', async () => {
    vi.useFakeTimers()
    const stream = sseStream(pulled({ next: never, cancel: () => {} }), 2)
    await vi.advanceTimersByTimeAsync(50_000)
    const reader = stream.getReader()
    let size = 0
    const counting = (async () => {
      for (let item = await reader.read(); !item.done; item = await reader.read()) size += item.value.length
    })()
    await vi.advanceTimersByTimeAsync(0)
    expect(size).toBeLessThan(17 * 1024)
    await reader.cancel()
    await counting
  })

  it('leaves no timer behind when the reader leaves', async () => {
    vi.useFakeTimers()
    const stream = sseStream(pulled({ next: never, cancel: () => {} }))
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(1)
    await stream.cancel()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('leaves no timer behind when nobody ever reads', async () => {
    vi.useFakeTimers()
    sseStream(pulled({ next: async () => 'x'.repeat(20_000), cancel: () => {} }))
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE_MS)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has headers that keep caches and proxies out', () => {
    expect(SSE_HEADERS).toEqual({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
  })
})
