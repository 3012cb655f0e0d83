import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** Runs one action at a time, and has the error of the last one. */
export interface Acting {
  readonly isBusy: boolean
  readonly error: unknown
  act(work: () => Promise<unknown>): Promise<void>
}

export function useActing(): Acting {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false })
  const act = async (work: () => Promise<unknown>) => {
    setState({ isBusy: true })
    try {
      await work()
      setState({ isBusy: false })
    } catch (error) {
      setState({ isBusy: false, error })
    }
  }
  return { isBusy: state.isBusy, error: state.error, act }
}

/** A button that runs an action on the service. */
export function Action({
  acting: { isBusy, act },
  work,
  children,
  kind,
}: {
  acting: Acting
  work: () => Promise<unknown>
  children: ComponentChildren
  kind?: 'main'
}) {
  return (
    <button type="button" class={kind} disabled={isBusy} onClick={() => void act(work)}>
      {children}
    </button>
  )
}
