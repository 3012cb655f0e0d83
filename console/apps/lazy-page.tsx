import { useEffect, useState } from 'preact/hooks'
import type { Part } from '../chat/parts.ts'
import type { PartProps } from './page-of.tsx'

type View = typeof import('./page-of.tsx')

/** Whether a part is one that a page may show: a call with a result, or structured output. */
export function mayHavePage(part: Part): part is PartProps['part'] {
  return part.kind === 'tool' ? part.result !== undefined : part.kind === 'structured'
}

/** The page of a part. What shows it is in a file of its own. */
export function LazyPage(props: PartProps) {
  const [view, set] = useState<View>()
  useEffect(() => void import('./page-of.tsx').then(set, () => {}), [])
  return view ? <view.PageOf {...props} /> : null
}
