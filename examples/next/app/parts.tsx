import type { FileUIPart } from 'ai'
import type { ChatData } from 'servable/ai-sdk-ui/page'

/** What an agent thought, folded. */
export function Thought({ text, isThinking }: { readonly text: string; readonly isThinking: boolean }) {
  return (
    <details className="thought">
      <summary>{isThinking ? 'Thinking…' : 'Thoughts'}</summary>
      <p className="words">{text}</p>
    </details>
  )
}

const MARKS = { started: '…', progress: '…', completed: '✓', failed: '✗' } as const

/** A step of a workflow, or the turn of a team's member, as it stands. */
export function Step({ step: { name, status, text, error } }: { readonly step: ChatData['step'] }) {
  return (
    <p className="step" data-status={status}>
      <span aria-hidden="true">{MARKS[status]}</span> {name}
      <span className="unseen">, {status}</span>
      {error !== undefined && <span role="alert">: {error}</span>}
      {error === undefined && text !== undefined && <small>{text}</small>}
    </p>
  )
}

/** A file of either side: shown or played where a browser can, else to be downloaded. */
export function File({ file: { url, mediaType, filename } }: { readonly file: FileUIPart }) {
  const name = filename ?? 'file'
  if (mediaType.startsWith('image/')) {
    // biome-ignore lint/performance/noImgElement: the service has it as it was sent
    return <img src={url} alt={filename ?? 'A picture without a description'} />
  }
  // biome-ignore lint/a11y/useMediaCaption: there are no captions of what people and agents send
  if (mediaType.startsWith('audio/')) return <audio src={url} controls aria-label={name} />
  return (
    <a href={url} download={name}>
      {name}
    </a>
  )
}

/** What has come of an artifact. */
export function Artifact({
  artifact: { artifactId, name, parts },
}: {
  readonly artifact: ChatData['artifact']
}) {
  return (
    <figure>
      <figcaption>{name ?? artifactId}</figcaption>
      {parts.map((part, index) => {
        const key = `part-${index}`
        if (part.type === 'text') return <pre key={key}>{part.text}</pre>
        return part.type === 'data' ? <pre key={key}>{jsonOf(part.data)}</pre> : null
      })}
    </figure>
  )
}

/** Data for a program, folded. */
export function Data({ label, data }: { readonly label: string; readonly data: unknown }) {
  return (
    <details>
      <summary>{label}</summary>
      <pre>{jsonOf(data)}</pre>
    </details>
  )
}

/** Any JSON as a person reads it. */
export const jsonOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
