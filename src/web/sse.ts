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

/** Bytes that may wait for a slow reader before the source is no longer read. */
const HIGH_WATER_MARK = 16 * 1024

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

/** The same source, counted until it ends or its reader leaves. */
export function counted(source: SseSource, count: StreamCount | undefined): SseSource {
  if (count === undefined) return source
  let close: (() => void) | undefined = count()
  const done = () => {
    close?.()
    close = undefined
  }
  return {
    read(take) {
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

/** The messages of a source as bytes. */
export function sseStream(source: SseSource, keepAliveMs?: number): ReadableStream<Uint8Array> {
  let writer: SseWriter
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const sink: SseSink = {
          write: text => controller.enqueue(encoder.encode(text)),
          hasRoom: () => (controller.desiredSize ?? 0) > 0,
        }
        writer = createSseWriter(source, sink, keepAliveMs)
      },
      async pull(controller) {
        if (await writer.write()) controller.close()
      },
      cancel: () => writer.leave(),
    },
    { highWaterMark: HIGH_WATER_MARK, size: chunk => chunk.byteLength },
  )
}

/**
 * Writes a comment when the first message is not there at once, and in each interval that saw no message, while the
 * writer waits for its source. A sink that is not read needs none: its timer stops at the next tick, so that a
 * stream nobody reads leaves no timer behind.
 */
function createKeepAlive(sink: SseSink, intervalMs: number) {
  let timer: ReturnType<typeof setInterval> | undefined
  let opening: ReturnType<typeof setTimeout> | undefined
  let hasBegun = false
  let isWaiting = false
  let wasSilent = true
  const stop = () => {
    if (timer !== undefined) clearInterval(timer)
    if (opening !== undefined) clearTimeout(opening)
    timer = undefined
  }
  return {
    stop,
    skip: () => {
      wasSilent = false
      if (opening !== undefined) clearTimeout(opening)
      opening = undefined
    },
    pause: () => {
      isWaiting = false
    },
    start() {
      isWaiting = true
      // A first message that is ready needs nothing before it.
      if (!hasBegun) opening = setTimeout(() => sink.write(OPEN), 0)
      hasBegun = true
      timer ??= setInterval(() => {
        if (!isWaiting) return stop()
        if (wasSilent && sink.hasRoom()) sink.write(KEEP_ALIVE)
        wasSilent = true
      }, intervalMs)
    },
  }
}
