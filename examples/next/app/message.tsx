import { isToolUIPart } from 'ai'
import { type FormEvent, memo, useState } from 'react'
import type { Told } from './chat.tsx'
import { Markdown } from './markdown.tsx'
import { Artifact, Data, File, Step, Thought } from './parts.tsx'
import { Question } from './question.tsx'
import { type Decision, Tool } from './tool.tsx'

interface Props {
  readonly message: Told
  readonly isBusy: boolean
  readonly isLast: boolean
  readonly onEdit: (text: string) => void
  readonly onRegenerate: () => void
  readonly onDecide: (decision: Decision) => void
  readonly onAnswer: (toolCallId: string, output: unknown) => void
}

/** What one of the two has said. */
export function Message(props: Props) {
  return props.message.role === 'user' ? <Asked {...props} /> : <Answer {...props} />
}

function Asked({ message, isBusy, onEdit }: Props) {
  const [isEdited, setIsEdited] = useState(false)
  const text = message.parts.flatMap(part => (part.type === 'text' ? part.text : [])).join('\n')

  function save(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    onEdit(String(new FormData(event.currentTarget).get('text')))
    setIsEdited(false)
  }

  return (
    <article className="asked" aria-label="You">
      {message.parts.map((part, index) => part.type === 'file' && <File key={keyOf(index)} file={part} />)}
      {isEdited ? (
        <form onSubmit={save}>
          {/* biome-ignore lint/a11y/noAutofocus: whoever pressed Edit types next */}
          <textarea name="text" aria-label="Edited message" defaultValue={text} rows={3} required autoFocus />
          <button type="submit">Save</button>
          <button type="button" onClick={() => setIsEdited(false)}>
            Cancel
          </button>
        </form>
      ) : (
        <>
          <p className="words">{text}</p>
          <button type="button" className="quiet" disabled={isBusy} onClick={() => setIsEdited(true)}>
            Edit
          </button>
        </>
      )}
    </article>
  )
}

function Answer({ message, isBusy, isLast, onRegenerate, onDecide, onAnswer }: Props) {
  const canAnswer = isLast && !isBusy
  // A run that failed at once said nothing.
  if (message.parts.length === 0) return null
  return (
    <article className="answer" aria-label="Answer">
      {message.parts.map((part, index) => (
        <Part key={keyOf(index)} part={part} canAnswer={canAnswer} onDecide={onDecide} onAnswer={onAnswer} />
      ))}
      {message.metadata?.finishReason === 'cancelled' && <p className="hint">Stopped</p>}
      {!(isBusy && isLast) && (
        <button type="button" className="quiet" disabled={isBusy} onClick={onRegenerate}>
          Regenerate
        </button>
      )}
    </article>
  )
}

interface PartProps extends Pick<Props, 'onDecide' | 'onAnswer'> {
  readonly part: Told['parts'][number]
  readonly canAnswer: boolean
}

function Part({ part, canAnswer, onDecide, onAnswer }: PartProps) {
  if (part.type === 'tool-question') {
    return (
      <Question call={part} canAnswer={canAnswer} onAnswer={output => onAnswer(part.toolCallId, output)} />
    )
  }
  if (isToolUIPart(part)) return <Tool call={part} canAnswer={canAnswer} onDecide={onDecide} />
  if (part.type === 'text') return <Words text={part.text} />
  if (part.type === 'reasoning') return <Thought text={part.text} isThinking={part.state === 'streaming'} />
  if (part.type === 'file') return <File file={part} />
  if (part.type === 'data-steered') return <Meanwhile parts={part.data.parts} />
  if (part.type === 'data-step') return <Step step={part.data} />
  if (part.type === 'data-artifact') return <Artifact artifact={part.data} />
  if (part.type === 'data-structured') return <Data label="Structured output" data={part.data} />
  if (part.type === 'data-message') return <Data label="Data" data={part.data} />
  return null
}

/** A message of the user that the answer took while it was at work. */
function Meanwhile({
  parts,
}: {
  readonly parts: readonly { readonly type: string; readonly text?: string }[]
}) {
  return (
    <blockquote aria-label="You, meanwhile" className="words">
      {parts.map(part => part.text ?? '').join('')}
    </blockquote>
  )
}

/** Text that has not grown is not read as markdown again. */
const Words = memo(({ text }: { readonly text: string }) => <Markdown text={text} />)

/** Parts are only ever added, and changed in place. */
const keyOf = (index: number) => `part-${index}`
