import { BREATHE_EVERY, breathe, createWake } from '../../base/wake.ts'
import { closeQuietly } from '../reading.ts'

/** An item, with the index of its source in `lane`. With `done` the value is what the source returned. */
export type Merged<T, R> =
  | { readonly lane: number; readonly done: false; readonly value: T }
  | { readonly lane: number; readonly done: true; readonly value: R }

/**
 * Reads several sources at once and yields their items as they come. At most `bound` items wait (default 64); past that no source
 * is read. With a bound of 1 no source is read before the reader is done with the item. If a source throws, or the reader leaves,
 * all sources are closed.
 */
export async function* merge<T, R>(
  sources: readonly AsyncIterator<T, R>[],
  bound = 64,
): AsyncGenerator<Merged<T, R>> {
  const queue: Merged<T, R>[] = []
  const signals = { item: createWake(), space: createWake() }
  let open = sources.length
  let stopped = false
  let count = 0
  let failure: { error: unknown } | undefined

  const pump = async (source: AsyncIterator<T, R>, lane: number): Promise<void> => {
    let result = await source.next()
    for (; !result.done; result = await source.next()) {
      queue.push({ lane, done: false, value: result.value })
      signals.item.fire()
      if (++count % BREATHE_EVERY === 0) await breathe()
      while (queue.length >= bound && !stopped) await signals.space.wait()
      if (stopped) return
    }
    queue.push({ lane, done: true, value: result.value })
  }

  sources.forEach((source, lane) => {
    pump(source, lane)
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => {
        open--
        signals.item.fire()
      })
  })

  try {
    while (true) {
      const item = queue[0]
      if (item !== undefined) {
        yield item
        queue.shift()
        signals.space.fire()
      } else if (failure !== undefined) throw failure.error
      else if (open === 0) return
      else await signals.item.wait()
    }
  } finally {
    stopped = true
    signals.space.fire()
    for (const source of sources) closeQuietly(source)
  }
}
