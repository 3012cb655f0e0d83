import type { FunctionComponent } from 'preact'
import { useEffect, useReducer, useState } from 'preact/hooks'
import { useReconnected } from './connection.ts'
import { Loading } from './parts/page.tsx'

type More = typeof import('./more.ts')

let more: More | undefined

/** Loads the screens that the page does not begin with. */
export async function loadMore(): Promise<void> {
  more ??= await import('./more.ts')
}

/** A screen that is not in the file which the page begins with. */
export function lazy(name: keyof More, title: string): FunctionComponent {
  return () => {
    const [isReady, tell] = useState(more !== undefined)
    const [hasFailed, fail] = useState(false)
    const [turn, again] = useReducer<number, void>(count => count + 1, 0)
    useEffect(() => {
      if (isReady) return
      fail(false)
      loadMore().then(
        () => {
          tell(true)
          // The heading that had the focus is another one now.
          requestAnimationFrame(() => document.querySelector<HTMLElement>('#main h1')?.focus())
        },
        () => fail(true),
      )
    }, [turn])
    useReconnected(() => again())
    const View = more?.[name]
    if (View !== undefined) return <View />
    return (
      <div class="page">
        <h1 tabIndex={-1}>{title}</h1>
        {hasFailed ? (
          <p>
            This screen could not be loaded.{' '}
            <button type="button" onClick={() => again()}>
              Try again
            </button>
          </p>
        ) : (
          <Loading />
        )}
      </div>
    )
  }
}
