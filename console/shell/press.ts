import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Where the browser keeps that keys of one letter or sign are off. */
const KEPT = 'servable.console.keys'

/** Whether keys of one letter or sign do something. Whoever speaks to the browser, or hits keys by accident, turns them off. */
export const hasKeys = signal(keptKeys())

/** Turns these keys on or off, and keeps that in this browser. */
export function turnKeys(isOn: boolean): void {
  hasKeys.value = isOn
  try {
    if (isOn) localStorage.removeItem(KEPT)
    else localStorage.setItem(KEPT, 'off')
  } catch {
    // The browser keeps nothing. The choice holds as long as the page.
  }
}

function keptKeys(): boolean {
  try {
    return localStorage.getItem(KEPT) !== 'off'
  } catch {
    return true
  }
}

/** Elements that take letters, and dialogs. */
const TYPING = 'input:not([type="checkbox"], [type="radio"]), textarea, select, dialog, [contenteditable]'

/** Does something when a key of one letter or sign is pressed outside of fields and dialogs, without others beside it. */
export function useKey(key: string, act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  // A key works as soon as it is shown.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest?.(TYPING) !== null
      const isOther = event.key !== key || event.ctrlKey || event.metaKey || event.altKey
      if (isOther || isTyping || !hasKeys.value) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}
