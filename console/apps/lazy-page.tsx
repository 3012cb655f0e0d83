import { useEffect, useState } from 'preact/hooks'
import type { Part } from '../chat/parts.ts'
import type { PartProps } from './page-of.tsx'

let view: typeof import('./page-of.tsx') | undefined

/** Whether a part is one that a page may show: a call that is done, or structured output. */
export function mayHavePage(part: Part): part is PartProps['part'] {
  if (part.kind === 'tool') return part.isDone && part.error === undefined && part.result !== undefined
  return part.kind === 'structured'
}

/** The page of a part. What shows it is in a file of its own. */
export function LazyPage(props: PartProps) {
  const [loaded, set] = useState(view)
  useEffect(() => {
    const load = async () => {
      view ??= await import('./page-of.tsx')
      set(view)
    }
    if (loaded === undefined) void load().catch(() => {})
  }, [])
  return loaded ? <loaded.PageOf {...props} /> : null
}
