import { eventToJson } from '../runs/event-json.ts'
import type { Run } from '../runs/run.ts'
import { type SseSource, sseMessage } from '../web/sse.ts'

/** The SSE encoder of a run: its events as messages numbered from 1. An event that is no JSON fails the run. */
export function sseSourceOf(run: Run): SseSource {
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
