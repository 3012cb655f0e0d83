import { useState } from 'preact/hooks'
import type { StoredFeedback } from '../../src/runs/feedback.ts'
import { useLoaded } from '../loading.ts'
import { useActing } from '../parts/action.tsx'
import { Failure } from '../parts/notice.tsx'
import { Section } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { client, send } from '../service.ts'
import { visible } from '../text.ts'

const SCORES = { Good: 1, Bad: -1 } as const

/** What people said of a run, and a form to say it. `query` names the owner of a run of somebody else. */
export function FeedbackForm({ id, query }: { id: string; query: Readonly<Record<string, string>> }) {
  const { value, error: unread, reload } = useLoaded(id, signal => readFeedback(id, query, signal))
  const [text, setText] = useState('')
  const { isBusy, error, act } = useActing()
  const rate = (word: keyof typeof SCORES) =>
    act(async () => {
      await client.runs.feedback(id, {
        score: SCORES[word],
        ...(text.trim() !== '' && { text: text.trim() }),
      })
      setText('')
      reload()
    })
  return (
    <Section id="feedback" title="Feedback">
      <div role="status">{value && <Given feedback={value} />}</div>
      {unread !== undefined && <Failure error={unread} />}
      <label>
        {value ? 'Say something else' : 'What you say of this run'}
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
      </p>
      {error !== undefined && <Failure error={error} />}
    </Section>
  )
}

function Given({ feedback: { score, text, correction, updatedAt } }: { feedback: StoredFeedback }) {
  const word =
    score === undefined ? 'Said' : score > 0 ? '▲ Good' : score < 0 ? '▼ Bad' : 'Neither good nor bad'
  return (
    <p class="said quote plain">
      <strong>{word}</strong>
      {text !== undefined && `: ${visible(text)}`}
      {correction !== undefined && `\nShould be: ${visible(JSON.stringify(correction))}`}{' '}
      <span class="soft small">
        <Time at={updatedAt} />
      </span>
    </p>
  )
}

/** The feedback that is kept. Undefined if there is none. */
async function readFeedback(
  id: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<StoredFeedback | undefined> {
  const asked = new URLSearchParams({ ...query, none: 'empty' })
  const response = await send(`/runs/${id}/feedback?${asked}`, { signal })
  return response.status === 204 ? undefined : response.json()
}
