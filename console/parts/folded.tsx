import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'

/** Details that are rendered when they are opened. */
export function Folded(props: { class?: string; summary: ComponentChild; children: () => ComponentChild }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class={props.class} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{props.summary}</summary>
      {isOpen && props.children()}
    </details>
  )
}
