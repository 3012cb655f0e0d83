import { eventToJson } from '../runs/event-json.ts'
import type { Follower } from '../runs/host.ts'
import type { Run } from '../runs/run.ts'
import { type SseSource, sseMessage } from '../web/sse.ts'

/** The SSE encoder of a run: its events as messages numbered from 1. An event that is no JSON fails the run. */
export function sseOfRun(run: Run): SseSource {
  let id = 0
  return {
    cancel: run.cancel,
    async next() {
      const item = await run.next()
      if (item.done) return undefined
      try {
        return sseMessage(++id, eventToJson(item.value))
      } catch (error) {
        run.fail(error)
        const last = await run.next()
        return last.done ? undefined : sseMessage(id, eventToJson(last.value))
      }
    },
  }
}

/** The SSE encoder of a followed run: what its log has ready goes out as one chunk. */
export function sseOfFollower(follower: Follower): SseSource {
  return {
    cancel: () => follower.leave(),
    async next() {
      try {
        const entries = await follower.next()
        return entries?.map(({ seq, data }) => sseMessage(seq, data)).join('')
      } catch {
        // The log cannot be read: the stream closes without an end, and its client may come back for the rest.
        follower.leave()
        return undefined
      }
    },
  }
}
