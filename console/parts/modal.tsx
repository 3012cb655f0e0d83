import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** A dialog that is on the page while `isOpen`. Closed by any means, it is gone with its state, and the focus is where it was. */
export function Modal({
  isOpen,
  label,
  kind,
  children,
}: {
  isOpen: Signal<boolean>
  label: string
  kind: string
  children: ComponentChildren
}) {
  return (
    isOpen.value && (
      <Open label={label} kind={kind} onClose={() => (isOpen.value = false)}>
        {children}
      </Open>
    )
  )
}

function Open(props: { label: string; kind: string; onClose: () => void; children: ComponentChildren }) {
  const { label, kind, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  // The event of a dialog that is gone may come when the next one is open.
  return (
    <dialog ref={dialog} class={kind} aria-label={label} onClose={() => dialog.current && onClose()}>
      {children}
    </dialog>
  )
}
