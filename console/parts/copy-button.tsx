import { useState } from 'preact/hooks'

/** Copies a text. `label` says what it is, such as "run id". */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [status, setStatus] = useState('Copy')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setStatus('Copied')
    } catch {
      setStatus('Copy failed')
    }
  }
  return (
    <button type="button" class="quiet" aria-label={`${status} ${label}`} onClick={copy}>
      {status}
    </button>
  )
}
