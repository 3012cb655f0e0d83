import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Acting } from './action.tsx'
import { Form } from './form.tsx'

/**
 * A modal form: the browser traps the focus inside, and restores it afterwards. With `dialog` its owner opens it by `showModal()`; else
 * it is open while it is on the page. It closes when its work is done, and then calls the function that the work may have given.
 */
export function Dialog({
  dialog,
  title,
  submit,
  work,
  at,
  onClose,
  back = 'Cancel',
  children,
}: {
  dialog?: RefObject<HTMLDialogElement | null>
  title: string
  /** The text of the submit button. */
  submit: string
  work: (fields: FormData) => Promise<unknown>
  /** The names of fields by the codes of errors that are about them. */
  at?: Readonly<Record<string, string>>
  onClose?: () => void
  /** The text of the button that closes it. Null: there is none. */
  back?: string | null
  /** Its content, which may depend on the running action. */
  children: ComponentChildren | ((acting: Acting) => ComponentChildren)
}) {
  const own = useRef<HTMLDialogElement>(null)
  const shown = dialog ?? own
  const [turn, setTurn] = useState(0)
  const id = useId()
  const close = () => shown.current?.close()
  useEffect(() => {
    const opened = own.current
    if (dialog === undefined) opened?.showModal()
    return () => opened?.close()
  }, [])
  // The event of a dialog that is gone may come when the next one is open.
  const closed = () => {
    if (shown.current === null) return
    setTurn(before => before + 1)
    onClose?.()
  }
  return (
    <dialog ref={shown} aria-labelledby={id} onClose={closed}>
      <h2 id={id}>{title}</h2>
      <Form
        key={turn}
        kind="form"
        submit={submit}
        at={at}
        work={async fields => {
          const next = await work(fields)
          close()
          if (typeof next === 'function') next()
        }}
        more={
          back !== null && (
            <button type="button" onClick={close}>
              {back}
            </button>
          )
        }
      >
        {children}
      </Form>
    </dialog>
  )
}

/** Opens one dialog at a time: what is shown of it, and how it is opened. */
export function useDialogs() {
  const [open, setOpen] = useState<{ turn: number; of: (close: () => void) => ComponentChildren }>()
  const ask = (of: (close: () => void) => ComponentChildren) =>
    setOpen(before => ({ turn: (before?.turn ?? 0) + 1, of }))
  const shown = open && <Opened key={open.turn} of={() => open.of(() => setOpen(undefined))} />
  return { shown, ask }
}

function Opened({ of }: { of: () => ComponentChildren }) {
  return <>{of()}</>
}
