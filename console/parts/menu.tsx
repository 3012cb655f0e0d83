import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * More acts or fields, below a button. It closes when something else is touched, by an act of it, or with Escape. `of` names what it
 * is about, where several have the same title.
 */
export function Menu({ title, of, children }: { title: string; of?: string; children: ComponentChildren }) {
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
  // A dialog that an act opens gives the focus back to where it was.
  const chosen = ({ target }: Event) => {
    if (!(target as Element).closest('button') || !menu.current) return
    menu.current.querySelector('summary')?.focus()
    menu.current.open = false
  }
  return (
    <details ref={menu} class="menu">
      <summary aria-label={of && `${title}: ${of}`}>{title}</summary>
      <div onClickCapture={chosen}>{children}</div>
    </details>
  )
}
