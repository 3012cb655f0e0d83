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

/** Milliseconds of silence after which a comment keeps the connection alive (Bun cuts responses idle for 10 s). */
export const KEEP_ALIVE_MS = 5000

/** Characters that are gathered for a slow reader before the source is no longer read. */
export const MAX_GATHERED: number = 16 * 1024

/** Turns of the microtask queue without a message after which its source is waiting for something. */
const QUIET_TICKS = 10

const encoder = new TextEncoder()
/** Tells a client that its stream is there: servers send the head of an answer with its first byte. */
const OPEN = ': open\n\n'
const KEEP_ALIVE = ': keep-alive\n\n'

/** Where the messages come from. */
export interface SseSource {
  /** Gives the next messages, each as soon as it is there, until `take` returns false. Never throws. */
  read(take: TakeMessage): void
  /** The reader left. */
  cancel(): void
}

/**
 * Takes one message as its lines with the blank line at the end, or undefined when there is none left. Returns whether it
 * takes another. Never throws.
 */
export type TakeMessage = (message: string | undefined) => boolean

/** A source of which every message is asked for. */
export interface PulledSource {
  /** The next message, as {@link TakeMessage} takes it. Never rejects. */
  next(): Promise<string | undefined>
  /** The reader left. */
  cancel(): void
}

/** Reads a source message by message. */
export function pulled(source: PulledSource): SseSource {
  const read = async (take: TakeMessage) => {
    while (take(await source.next()));
  }
  return { read: take => void read(take), cancel: () => source.cancel() }
}

/** One message with an id and JSON data. JSON has no line breaks, so one `data:` line is enough. */
export function sseMessage(id: number | string, json: string): string {
  return `id: ${id}\ndata: ${json}\n\n`
}

/** Counts the streams that are open; the function that it gives is called once one is closed. */
export type StreamCount = () => () => void

/** The same source, counted from its first read until it ends or its reader leaves. */
export function counted(source: SseSource, count: StreamCount | undefined): SseSource {
  if (count === undefined) return source
  let close: (() => void) | undefined
  let isOver = false
  const done = () => {
    if (!isOver) close?.()
    isOver = true
  }
  return {
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

/** Where the messages go. */
export interface SseSink {
  write(text: string): void
  /** Whether its reader keeps up. */
  hasRoom(): boolean
}

/** Messages on their way into a sink. */
export interface SseWriter {
  /** Writes messages as they come, and comments while none does. Resolves with false when the sink has no room, with true at the end. */
  write(): Promise<boolean>
  /** The reader left. */
  leave(): void
}

/** Makes a {@link SseWriter}. It reads no further than the sink has room. */
export function createSseWriter(
  source: SseSource,
  sink: SseSink,
  keepAliveMs: number = KEEP_ALIVE_MS,
): SseWriter {
  const keepAlive = createKeepAlive(sink, keepAliveMs)
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

/** The messages of a source as bytes. What comes in one turn of the event loop leaves as one chunk. */
export function sseStream(source: SseSource, keepAliveMs?: number): ReadableStream<Uint8Array> {
  // It is asked for chunks as they are read: until then, more is gathered.
  return new ReadableStream<Uint8Array>(new Chunks(source, keepAliveMs), { highWaterMark: 0 })
}

/** Gathers messages for a `ReadableStream`. */
class Chunks implements SseSink {
  readonly #writer: SseWriter
  #gathered = ''
  #isReading = false
  #hasEnded = false
  #hasLeft = false
  /** Tells `pull` that something has come. */
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

  /** Reads on while there is room. */
  async #read(): Promise<void> {
    this.#isReading = true
    do this.#hasEnded = await this.#writer.write()
    while (!this.#hasEnded && !this.#hasLeft && this.hasRoom())
    this.#isReading = false
    this.#wake()
  }

  /** Resolves once something has come, and what comes in the same turn with it. */
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
 * Writes a comment when the first message is not there at once, and after each `maxSilenceMs` without a message, while the
 * writer waits for its source. A sink that has no room needs none: its timer stops at the next tick.
 */
function createKeepAlive(sink: SseSink, maxSilenceMs: number) {
  let timer: ReturnType<typeof setInterval> | undefined
  let opening: ReturnType<typeof setTimeout> | undefined
  let hasOpened = false
  let isWaiting = false
  let hasSpoken = false
  /** Looks at the source in a row that found it silent. */
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
    if (sink.hasRoom()) sink.write(KEEP_ALIVE)
  }
  const watch = () => {
    timer ??= setInterval(look, maxSilenceMs / 2)
  }
  const open = () => {
    hasOpened = true
    if (!hasSpoken) sink.write(OPEN)
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
      // A source whose messages are all ready needs neither a comment before them nor one between.
      if (hasOpened) watch()
      else opening ??= setTimeout(open, 0)
    },
  }
}
