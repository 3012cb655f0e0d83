import { useState } from 'preact/hooks'
import { useActing } from '../parts/action.tsx'
import { Failure } from '../parts/notice.tsx'
import { client } from '../service.ts'

const SCORES = { Good: 1, Bad: -1 } as const

/** A form for feedback on a run. */
export function FeedbackForm({ id }: { id: string }) {
  const [text, setText] = useState('')
  const [notice, setNotice] = useState('')
  const { isBusy, error, act } = useActing()
  const rate = (word: keyof typeof SCORES) =>
    act(async () => {
      await client.runs.feedback(id, {
        score: SCORES[word],
        ...(text.trim() !== '' && { text: text.trim() }),
      })
      setNotice(`The service keeps it: ${word.toLowerCase()}.`)
    })
  return (
    <section aria-label="Feedback">
      <h3>Feedback</h3>
      <label>
        What you say of this run
        <textarea
          rows={2}
          maxLength={4000}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p class="actions">
        <button type="button" disabled={isBusy} onClick={() => void rate('Good')}>
          <span aria-hidden="true">▲</span> Good
        </button>
        <button type="button" disabled={isBusy} onClick={() => void rate('Bad')}>
          <span aria-hidden="true">▼</span> Bad
        </button>
        <span role="status">{notice}</span>
      </p>
      {error !== undefined && <Failure error={error} />}
    </section>
  )
}
