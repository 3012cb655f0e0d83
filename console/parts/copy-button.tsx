import { useState } from 'preact/hooks'

/** Copies a text. `label` says what it is, such as "run id". */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState('Copy')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Cannot copy')
    }
  }
  return (
    <button type="button" class="quiet" aria-label={`${said} ${label}`} onClick={copy}>
      {said}
    </button>
  )
}
