import type { RunEvent } from '../../agents/contract.ts'
import { eventToJson } from '../../runs/event-json.ts'
import type { Run } from '../../runs/run.ts'
import type { Follower } from '../../runs/stored/host.ts'
import { pulled, type SseSource, sseMessage } from '../../web/sse.ts'

/** A run as server-sent events. `encode` returns the messages of an event, or `''` for none. Its error fails the run. */
export function sseOf(run: Run, encode: (event: RunEvent) => string): SseSource {
  const tried = (event: RunEvent) => {
    try {
      return encode(event)
    } catch (error) {
      run.fail(error)
      // The next event is the run's error.
      return ''
    }
  }
  return {
    cancel: run.cancel,
    read(take) {
      run.read(event => {
        if (event === undefined) return take(undefined)
        const text = tried(event)
        return text === '' || take(text)
      })
    },
  }
}

/** Encodes a run as SSE: its events as messages numbered from 1. An event that is not JSON fails the run. */
export function sseOfRun(run: Run): SseSource {
  let last = 0
  return sseOf(run, event => {
    const json = eventToJson(event)
    return sseMessage(++last, json)
  })
}

/**
 * Encodes a stored run as SSE: the entries that its log has ready are one chunk. `onError` gets the error of a log that cannot be
 * read.
 */
export function sseOfFollower(follower: Follower, onError: (error: unknown) => void): SseSource {
  return pulled({
    cancel: () => follower.leave(),
    async next() {
      const entries = await follower.next()
      return entries?.map(({ seq, data }) => sseMessage(seq, data)).join('')
    },
    // The log cannot be read: the stream closes without an end, and its client may reconnect for the rest.
    broken: error => void onError(error),
  })
}
