/**
 * Server-sent events (WHATWG HTML, section 9.2) over a `ReadableStream`.
 *
 * @module
 */

/** Response headers of an event stream: never cached, never transformed, never buffered by a proxy. */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Milliseconds of silence before a comment keeps the connection alive (Bun closes responses that are idle for 10 s). */
export const KEEP_ALIVE_MS = 5000

/** Most characters that wait for a slow reader. At this limit the source is not read. */
export const MAX_GATHERED: number = 16 * 1024

/** Turns of the microtask queue without a message after which the source counts as waiting. */
const QUIET_TICKS = 10

const encoder = new TextEncoder()
/** The first comment. Servers send the head of an answer only with its first byte. */
const OPEN = ': open\n\n'
const KEEP_ALIVE = ': keep-alive\n\n'

/** The source of the messages. */
export interface SseSource {
  /** Passes each message to `take` as soon as it exists, until `take` returns false. Never throws. */
  read(take: TakeMessage): void
  /** Called when the reader has left. */
  cancel(): void
  /** Written while the source is silent. Default: a comment. */
  readonly keepAlive?: string | undefined
}

/**
 * Takes one message, with its lines and the blank line at the end. Undefined means the end. Returns whether it takes another.
 * Never throws.
 */
export type TakeMessage = (message: string | undefined) => boolean

/** A source that returns one message per call. If `next` rejects, the source is cancelled and ends. */
export interface PulledSource {
  /** The next message, as {@link TakeMessage} takes it. */
  next(): Promise<string | undefined>
  /** Called when the reader has left, or `next` rejected. */
  cancel(): void
  /** Returns the last message after `next` rejected; undefined for none. Never throws. Default: none. */
  broken?(error: unknown): string | undefined
}

/** Makes a source from a pulled one. */
export function pulled(source: PulledSource): SseSource {
  let isBroken = false
  const broken = (error: unknown) => {
    isBroken = true
    source.cancel()
    return source.broken?.(error)
  }
  return {
    async read(take) {
      while (take(isBroken ? undefined : await source.next().catch(broken)));
    },
    cancel: () => source.cancel(),
  }
}

/** One message with an id and JSON data. JSON has no line breaks, so one `data:` line is enough. */
export function sseMessage(id: number | string, json: string): string {
  return `id: ${id}\ndata: ${json}\n\n`
}

/** One message without an id. */
export function sseData(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** Counts the open streams. It is called when one opens, and returns a function to call when that one closes. */
export type StreamCount = () => () => void

/** Returns the same source, which is counted from its first read until it ends or its reader leaves. */
export function counted(source: SseSource, count: StreamCount | undefined): SseSource {
  if (count === undefined) return source
  let close: (() => void) | undefined
  let isOver = false
  const done = () => {
    if (!isOver) close?.()
    isOver = true
  }
  return {
    keepAlive: source.keepAlive,
    read(take) {
      if (!isOver) close ??= count()
      source.read(message => {
        if (message === undefined) done()
        return take(message)
      })
    },
    cancel() {
      done()
      source.cancel()
    },
  }
}

/** The destination of the messages. */
export interface SseSink {
  write(text: string): void
  /** Whether the reader keeps up. */
  hasRoom(): boolean
}

/** Writes messages into a sink. */
export interface SseWriter {
  /** Writes messages as they come, and comments in between. Resolves with false if the sink has no room, with true at the end. */
  write(): Promise<boolean>
  /** Ends the writing because the reader has left. */
  leave(): void
}

/** Makes a {@link SseWriter}. It reads only while the sink has room. */
export function createSseWriter(
  source: SseSource,
  sink: SseSink,
  keepAliveMs: number = KEEP_ALIVE_MS,
): SseWriter {
  const keepAlive = createKeepAlive(sink, keepAliveMs, source.keepAlive)
  let isOpen = true
  return {
    write() {
      keepAlive.start()
      return new Promise(resolve => {
        source.read(message => {
          if (isOpen && message !== undefined) {
            keepAlive.skip()
            sink.write(message)
            if (sink.hasRoom()) return true
            keepAlive.pause()
            resolve(false)
          } else {
            keepAlive.stop()
            resolve(isOpen)
          }
          return false
        })
      })
    },
    leave() {
      isOpen = false
      keepAlive.stop()
      source.cancel()
    },
  }
}

/** The messages of a source as bytes. The messages of one turn of the event loop are one chunk. */
export function sseStream(source: SseSource, keepAliveMs?: number): ReadableStream<Uint8Array> {
  // Without a high-water mark, chunks are made only on demand. Meanwhile messages gather.
  return new ReadableStream<Uint8Array>(new Chunks(source, keepAliveMs), { highWaterMark: 0 })
}

/** Gathers messages for a `ReadableStream`. */
class Chunks implements SseSink {
  readonly #writer: SseWriter
  #gathered = ''
  #isReading = false
  #hasEnded = false
  #hasLeft = false
  /** Wakes `pull` when a message has arrived. */
  #wake = () => {}

  constructor(source: SseSource, keepAliveMs: number | undefined) {
    this.#writer = createSseWriter(source, this, keepAliveMs)
  }

  write(text: string): void {
    this.#gathered += text
    this.#wake()
  }

  hasRoom(): boolean {
    return this.#gathered.length < MAX_GATHERED
  }

  start(): void {
    void this.#read()
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    await this.#arrival()
    if (this.#hasLeft) return
    if (this.#gathered !== '') controller.enqueue(encoder.encode(this.#gathered))
    this.#gathered = ''
    if (this.#hasEnded) controller.close()
    else if (!this.#isReading) void this.#read()
  }

  cancel(): void {
    this.#hasLeft = true
    this.#wake()
    this.#writer.leave()
  }

  /** Reads while there is room. */
  async #read(): Promise<void> {
    this.#isReading = true
    do this.#hasEnded = await this.#writer.write()
    while (!this.#hasEnded && !this.#hasLeft && this.hasRoom())
    this.#isReading = false
    this.#wake()
  }

  /** Resolves after a message has arrived, together with the other messages of that turn. */
  async #arrival(): Promise<void> {
    while (this.#gathered === '' && !this.#hasEnded && !this.#hasLeft) {
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    for (let seen = 0, quiet = 0; quiet < QUIET_TICKS && !this.#hasEnded && this.hasRoom(); quiet++) {
      if (this.#gathered.length !== seen) quiet = 0
      seen = this.#gathered.length
      await undefined
    }
  }
}

/**
 * Writes a comment if the first message is not ready at once. While the writer waits for its source, it also writes one after
 * each `maxSilenceMs` without a message. If the sink has no room, the timer stops at the next tick.
 */
function createKeepAlive(sink: SseSink, maxSilenceMs: number, text: string = KEEP_ALIVE) {
  let timer: ReturnType<typeof setInterval> | undefined
  let opening: ReturnType<typeof setTimeout> | undefined
  let hasOpened = false
  let isWaiting = false
  let hasSpoken = false
  /** Checks in a row that found the source silent. */
  let silent = 0
  const stop = () => {
    if (timer !== undefined) clearInterval(timer)
    if (opening !== undefined) clearTimeout(opening)
    timer = undefined
  }
  const look = () => {
    if (!isWaiting) return stop()
    if (++silent < 2) return
    silent = 0
    if (sink.hasRoom()) sink.write(text)
  }
  const watch = () => {
    timer ??= setInterval(look, maxSilenceMs / 2)
  }
  const open = () => {
    hasOpened = true
    // Blank space is for bodies that are no server-sent events.
    if (!hasSpoken) sink.write(text.trim() === '' ? text : OPEN)
    if (isWaiting) watch()
  }
  return {
    stop,
    skip: () => {
      hasSpoken = true
      silent = 0
    },
    pause: () => {
      isWaiting = false
    },
    start() {
      isWaiting = true
      // If all messages are ready, no comment is needed.
      if (hasOpened) watch()
      else opening ??= setTimeout(open, 0)
    },
  }
}
