import { useState } from 'preact/hooks'
import { useActing } from '../parts/action.tsx'
import { Failure } from '../parts/notice.tsx'
import { client } from '../service.ts'

const SCORES = { Good: 1, Bad: -1 } as const

/** Says what a run was worth. */
export function FeedbackForm({ id }: { id: string }) {
  const [text, setText] = useState('')
  const [said, setSaid] = useState('')
  const { isBusy, error, act } = useActing()
  const say = (word: keyof typeof SCORES) =>
    act(async () => {
      await client.runs.feedback(id, {
        score: SCORES[word],
        ...(text.trim() !== '' && { text: text.trim() }),
      })
      setSaid(`The service keeps it: ${word.toLowerCase()}.`)
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
        <button type="button" disabled={isBusy} onClick={() => void say('Good')}>
          <span aria-hidden="true">▲</span> Good
        </button>
        <button type="button" disabled={isBusy} onClick={() => void say('Bad')}>
          <span aria-hidden="true">▼</span> Bad
        </button>
        <span role="status">{said}</span>
      </p>
      {error !== undefined && <Failure error={error} />}
    </section>
  )
}
