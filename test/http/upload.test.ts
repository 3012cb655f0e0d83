import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { platform } from '../../src/http/platform.ts'
import { createHandler, type FileUploadOptions, type RunEvent } from '../../src/index.ts'
import { eventually } from '../eventually.ts'

/** Takes one upload at a time; its agent `waits` ends when it is told to, or is left. */
function make(timeoutMs?: number) {
  const waiting = Promise.withResolvers<void>()
  let stopped = 0
  const handler = createHandler({
    registry: false,
    logger: false,
    fileUpload: { maxConcurrent: 1 },
    ...(timeoutMs !== undefined && { runs: { timeoutMs } }),
    agents: {
      waits: {
        kind: 'agent',
        name: 'waits',
        async run() {
          await waiting.promise
          return { text: 'done' } as never
        },
        async *stream(_input: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<RunEvent> {
          yield { type: 'text', text: 'begun' }
          await new Promise(resolve => signal.addEventListener('abort', resolve))
          stopped++
        },
      } as never,
      echo: { run: async () => ({ text: 'x' }) as never },
    },
  })
  const ask = (path: string, fields: Record<string, string> = { input: 'x' }) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return handler(new Request(`http://127.0.0.1/api/agents/${path}`, { method: 'POST', body }))
  }
  return { ask, end: waiting.resolve, stopped: () => stopped }
}

describe('the place of an upload', () => {
  it('is taken until its stream is left, and then given back', async () => {
    const { ask, stopped } = make()
    const stream = await ask('waits/stream')
    const reader = stream.body!.getReader()
    await reader.read()
    const refused = await ask('echo/run')
    expect([refused.status, (await refused.json()).code]).toEqual([429, 'rate_limited'])
    await reader.cancel()
    await eventually(() => expect(stopped()).toBe(1))
    for (let upload = 0; upload < 3; upload++) expect((await ask('echo/run')).status).toBe(200)
  })

  it('is given back by what is refused', async () => {
    const { ask } = make()
    for (let upload = 0; upload < 3; upload++) expect((await ask('echo/run', {})).status).toBe(400)
    for (let upload = 0; upload < 3; upload++) expect((await ask('nobody/run')).status).toBe(404)
    expect((await ask('echo/run')).status).toBe(200)
  })

  it('is free again in the end where its response is thrown away unread', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask } = make(5000)
    await ask('waits/stream')
    expect((await ask('echo/run')).status).toBe(429)
    vi.advanceTimersByTime(5000 + 120_000 + 1)
    expect((await ask('echo/run')).status).toBe(200)
  })
})

/** A handler whose agent ends at once, and clients of it. */
function crowded(fileUpload: FileUploadOptions, isIsolated = false) {
  const handler = createHandler({
    registry: false,
    logger: false,
    fileUpload,
    agents: { echo: { run: async () => ({ text: 'x' }) as never } },
  })
  /** Sends what `body` gives, of a declared length. */
  const send = async (ip: string, body: ReadableStream<Uint8Array>, length?: number) => {
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      ...(length !== undefined && { 'content-length': String(length) }),
    }
    const init = { method: 'POST', headers, body, duplex: 'half' }
    const request = new Request('http://127.0.0.1/api/agents/echo/run', init)
    const response = await handler(request, platform({ ip, isIsolated }))
    const { code } = await response.json()
    return { status: response.status, code, retryAfter: response.headers.get('retry-after') }
  }
  return {
    /** Declares `size` bytes and sends the first of them; the rest when it is told to. */
    begin(ip: string, size = 1000, isDeclared = true) {
      const end = encoder.encode(`${HEAD}${'x'.repeat(Math.max(0, size - HEAD.length - TAIL.length))}${TAIL}`)
      let sent = 0
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined
      let isRead = false
      const body = new ReadableStream<Uint8Array>(
        {
          start(given) {
            controller = given
          },
          pull() {
            isRead = true
          },
        },
        { highWaterMark: 0 },
      )
      const answer = send(ip, body, isDeclared ? size : undefined)
      return {
        answer,
        isRead: () => isRead,
        more(bytes: number) {
          controller?.enqueue(end.subarray(sent, sent + bytes))
          sent += bytes
        },
        finish() {
          controller?.enqueue(end.subarray(sent))
          controller?.close()
          return answer
        },
      }
    },
  }
}

const encoder = new TextEncoder()
const HEAD = '--b\r\ncontent-disposition: form-data; name="input"\r\n\r\n'
const TAIL = '\r\n--b--\r\n'
const REFUSED = { status: 429, code: 'rate_limited', retryAfter: '1' }

/** Time goes on only where a test says so. */
function stopTime(): void {
  const toFake = [
    'Date',
    'performance',
    'setTimeout',
    'setInterval',
    'clearTimeout',
    'clearInterval',
  ] as const
  vi.useFakeTimers({ toFake: [...toFake] })
  onTestFinished(() => void vi.useRealTimers())
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Those of them that have been asked for their bytes. */
const read = async (uploads: readonly { isRead(): boolean }[]) => {
  await pass(100)
  return uploads.filter(upload => upload.isRead()).length
}

describe('the places of uploads', () => {
  it('are not all one client’s: sixteen slow uploads of it leave others half of them', async () => {
    stopTime()
    const { begin } = crowded({})
    const slow = Array.from({ length: 16 }, () => begin('192.0.2.1'))
    expect(await read(slow)).toBe(8)
    const others = ['192.0.2.2', '192.0.2.3', '2001:db8::1'].map(ip => begin(ip))
    expect(await read(others)).toBe(3)
    for (const upload of others) expect((await upload.finish()).status).toBe(200)
    for (const upload of slow) upload.finish()
    await pass(200)
    expect((await Promise.all(slow.map(({ answer }) => answer))).map(({ status }) => status)).toEqual(
      Array(16).fill(200),
    )
  })

  it('are one client’s for all addresses of an IPv6 network', async () => {
    stopTime()
    const { begin } = crowded({ maxConcurrent: 4 })
    const uploads = [1, 2, 3, 4].map(host => begin(`2001:db8::${host}`))
    expect(await read(uploads)).toBe(2)
  })

  it('are given back by those that are too slow while others wait, and by nobody else', async () => {
    stopTime()
    const { begin } = crowded({ maxConcurrent: 2 })
    const slow = begin('192.0.2.1', 100_000)
    const quick = begin('192.0.2.2', 100_000)
    await pass(0)
    for (let second = 0; second < 25; second++) {
      slow.more(10)
      quick.more(2000)
      await pass(1000)
    }
    const waiting = begin('192.0.2.3')
    await pass(2000)
    expect(await slow.answer).toMatchObject({ status: 408, code: 'upload_too_slow' })
    expect(waiting.isRead()).toBe(true)
    expect((await waiting.finish()).status).toBe(200)
    expect((await quick.finish()).status).toBe(200)
  })

  it('are waited for a bounded time, by a bounded number', async () => {
    stopTime()
    const { begin } = crowded({ maxConcurrent: 1 })
    const first = begin('192.0.2.1', 1_000_000)
    await pass(0)
    const waiting = Array.from({ length: 70 }, (_, index) => begin(`192.0.2.${index + 2}`))
    await pass(0)
    // One more than may wait is told so at once.
    expect(await waiting[69]!.answer).toEqual(REFUSED)
    for (let second = 0; second < 20; second++) {
      first.more(2000)
      await pass(1000)
    }
    expect(await Promise.all(waiting.map(({ answer }) => answer))).toEqual(Array(70).fill(REFUSED))
    expect(await read(waiting)).toBe(0)
    expect((await first.finish()).status).toBe(200)
  })

  it('are there for others while those of one client change hands', async () => {
    stopTime()
    const { begin } = crowded({})
    const half = () => Array.from({ length: 8 }, () => begin('192.0.2.1'))
    const first = half()
    await pass(20)
    half()
    // All of the first half are found too slow in one moment, and none of the second half has looked since.
    await pass(9985)
    expect(await Promise.all(first.map(({ answer }) => answer))).toMatchObject(Array(8).fill({ status: 408 }))
    const other = begin('192.0.2.2').finish()
    await pass(1000)
    expect((await other).status).toBe(200)
  })

  it('go to those who wait in the order in which they came', async () => {
    stopTime()
    const { begin } = crowded({ maxConcurrent: 1 })
    const uploads = [1, 2, 3, 4].map(host => begin(`192.0.2.${host}`))
    for (const [index, upload] of uploads.entries()) {
      expect(await read(uploads)).toBe(index + 1)
      expect((await upload.finish()).status).toBe(200)
    }
  })
})

describe('the bytes of uploads', () => {
  const MB = 1_000_000

  it.each([
    [true, 1],
    [false, 4],
  ])('are bounded in sum by what the runtime has: isolated %s', async (isIsolated, count) => {
    stopTime()
    const { begin } = crowded({}, isIsolated)
    const uploads = Array.from({ length: 16 }, () => begin('192.0.2.1', 31 * MB))
    expect(await read(uploads)).toBe(count)
    for (let second = 0; second < 16; second++) {
      for (const upload of uploads.slice(0, count)) upload.more(2000)
      await pass(1000)
    }
    expect(await read(uploads)).toBe(count)
    for (const upload of uploads.slice(count)) expect(await upload.answer).toEqual(REFUSED)
  })

  it('leave room for one request of the largest size, whatever the sum', async () => {
    stopTime()
    const { begin } = crowded({ maxRequestSize: 3000, maxTotalSize: 1000 })
    const large = begin('192.0.2.1', 3000)
    expect(await read([large])).toBe(1)
    expect((await large.finish()).status).toBe(200)
    const tooLarge = begin('192.0.2.1', 3001)
    expect(await tooLarge.answer).toMatchObject({ status: 413, code: 'body_too_large' })
  })

  it('are counted as they come where nobody declares them', async () => {
    stopTime()
    const { begin } = crowded({ maxRequestSize: 3000, maxTotalSize: 3000 })
    const first = begin('192.0.2.1', 3000, false)
    const second = begin('192.0.2.2', 3000, false)
    expect(await read([first, second])).toBe(2)
    first.more(2000)
    await pass(0)
    second.more(2000)
    await pass(0)
    expect(await second.answer).toEqual(REFUSED)
    expect((await first.finish()).status).toBe(200)
    expect((await begin('192.0.2.2', 3000, false).finish()).status).toBe(200)
  })
})
