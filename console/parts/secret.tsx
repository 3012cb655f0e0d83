import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

/** Shows a secret that is not shown again. The page holds it until the dialog is closed. */
export function Secret({
  title,
  what,
  secret,
  close,
  children,
}: {
  title: string
  /** What it is, such as "key". */
  what: string
  secret: string
  close: () => void
  /** What it is for. */
  children?: ComponentChildren
}) {
  return (
    <Dialog title={title} submit="Done" back={null} work={async () => {}} onClose={close}>
      <p>Copy it now: it is not shown again. {children}</p>
      <div class="cmd">
        <code>{secret}</code>
        <CopyButton text={secret} label={what} />
      </div>
    </Dialog>
  )
}
