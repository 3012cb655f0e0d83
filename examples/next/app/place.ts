import { generateId } from 'ai'
import { useMemo, useSyncExternalStore } from 'react'
import type { Kind, Place } from './service-client.ts'

/** The chat that the address names, such as `#agent/helper/x1`: it can be reloaded, and is in the browser's history. */
export function usePlace(): Place | undefined {
  const hash = useSyncExternalStore(
    onChange => {
      addEventListener('hashchange', onChange)
      return () => removeEventListener('hashchange', onChange)
    },
    () => location.hash,
    () => '',
  )
  return useMemo(() => placeIn(hash), [hash])
}

export const hashOf = ({ kind, name, id }: Place) =>
  `#${kind}/${encodeURIComponent(name)}/${encodeURIComponent(id)}`

/** A new chat. The service knows its session once something was said in it. */
export const newPlace = (kind: Kind, name: string): Place => ({ kind, name, id: generateId() })

function placeIn(hash: string): Place | undefined {
  const [, kind, name, id] = /^#(agent|team|workflow)\/([^/]+)\/([^/]+)$/.exec(hash) ?? []
  if (name === undefined || id === undefined) return undefined
  try {
    return { kind: kind as Kind, name: decodeURIComponent(name), id: decodeURIComponent(id) }
  } catch {
    return undefined
  }
}
