import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

/** Shows a secret that is not shown again. The page holds it until the dialog is closed. */
export function Secret({
  title,
  what,
  secret,
  close,
}: {
  title: string
  /** What it is, such as "key". */
  what: string
  secret: string
  close: () => void
}) {
  return (
    <Dialog title={title} submit="Done" back={null} work={async () => {}} onClose={close}>
      <p>Copy it now. It is not shown again.</p>
      <div class="cmd">
        <code>{secret}</code>
        <CopyButton text={secret} label={what} />
      </div>
    </Dialog>
  )
}
