import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** More acts or fields, below a button. It closes when something else is touched, or with Escape. */
export function Menu({ title, children }: { title: string; children: ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const close = () => {
      if (menu.current) menu.current.open = false
    }
    addEventListener(
      'pointerdown',
      ({ target }) => {
        if (!menu.current?.contains(target as Node)) close()
      },
      { signal },
    )
    menu.current?.addEventListener(
      'keydown',
      ({ key }) => {
        if (key !== 'Escape') return
        close()
        menu.current?.querySelector('summary')?.focus()
      },
      { signal },
    )
    return () => controller.abort()
  }, [])
  return (
    <details ref={menu} class="menu">
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  )
}
