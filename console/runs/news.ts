/** Keeps a list of runs up to date. */
import { useEffect, useRef } from 'preact/hooks'
import type { RunListEvent } from '../../src/http/runs/live-runs.ts'
import { onNews, WATCHED } from '../live.ts'
import { clientOf, config } from '../service.ts'
import type { Filters } from './filters.ts'
import type { Listed } from './numbers.ts'

/** Older runs at work are not in the stream: so many of them are asked for, in this interval. */
const OLDER = 20
const LOOK_MS = 5000

/** Milliseconds between two reads of a list whose changes only the service can tell. */
const AGAIN_MS = 2000

/** What a list does with news. */
interface Takers {
  readonly isShown: (id: string) => boolean
  readonly show: (run: Listed) => void
  readonly drop: (id: string) => void
  /** Reads the list again. */
  readonly again: () => void
}

/** Follows the news of runs. */
export function useNews(filters: Filters, takers: Takers): void {
  const now = useRef({ filters, takers })
  now.current = { filters, takers }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const again = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        now.current.takers.again()
      }, AGAIN_MS)
    }
    const take = (event: RunListEvent) => {
      const { filters, takers } = now.current
      // The first read of the list has just happened, or news were missed.
      if (event.type === 'all') return again()
      if (event.type === 'removed') return takers.drop(event.id)
      const run: Listed = event.run
      if (!isOf(filters.owner, run)) return
      if (filters.search && !takers.isShown(run.id)) again()
      else takers.show(run)
    }
    const stop = onNews(take)
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
}

/** Whether a run belongs to whom the list is of. In the news of everyone each run has its owner. */
function isOf(owner: string | undefined, run: Listed): boolean {
  if (owner === '*' || run.owner === undefined) return true
  return run.owner === (owner ?? config.value.identity?.id ?? null)
}

/** Asks for older runs that are at work, while the page is visible. */
export function useOlder(items: readonly Listed[], show: (fresh: readonly Listed[]) => void): void {
  const atWork = items.slice(WATCHED).filter(({ status }) => status === 'queued' || status === 'running')
  const looked = atWork.slice(0, OLDER)
  const ids = looked.map(({ id }) => id).join()
  useEffect(() => {
    if (ids === '') return
    const controller = new AbortController()
    const { signal } = controller
    const look = async () => {
      if (document.hidden) return
      const get = async ({ id, owner }: Listed) => {
        const run = await clientOf(owner).runs.get(id, { signal })
        return owner === undefined ? run : { ...run, owner }
      }
      show(await Promise.all(looked.map(get)))
    }
    // A failed look is repeated at the next interval.
    const timer = setInterval(() => void look().catch(() => {}), LOOK_MS)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [ids])
}
