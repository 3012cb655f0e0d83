import type { ComponentChildren, RefObject } from 'preact'
import { useId } from 'preact/hooks'
import { type Acting, useActing } from './action.tsx'
import { Failure } from './notice.tsx'

/** A modal question: the browser traps the focus inside, and restores it afterwards. Open it with `showModal()`. */
export function Dialog({
  dialog,
  title,
  submit,
  work,
  children,
}: {
  dialog: RefObject<HTMLDialogElement | null>
  title: string
  /** The text of the submit button. */
  submit: string
  work: (form: FormData) => Promise<unknown>
  /** Its content, which may depend on the running action. */
  children: ComponentChildren | ((acting: Acting) => ComponentChildren)
}) {
  const acting = useActing()
  const id = useId()
  const close = () => dialog.current?.close()
  const send = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    void acting.act(async () => {
      await work(form)
      close()
    })
  }
  return (
    <dialog ref={dialog} aria-labelledby={id}>
      <form onSubmit={send}>
        <h2 id={id}>{title}</h2>
        {typeof children === 'function' ? children(acting) : children}
        {acting.error !== undefined && <Failure error={acting.error} />}
        <p class="actions">
          <button type="submit" class="main" disabled={acting.isBusy}>
            {submit}
          </button>
          <button type="button" onClick={close}>
            Back
          </button>
        </p>
      </form>
    </dialog>
  )
}
