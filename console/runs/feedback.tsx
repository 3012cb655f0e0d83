import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { StoredFeedback } from '../../src/runs/feedback.ts'
import { useLoaded } from '../loading.ts'
import { useActing } from '../parts/action.tsx'
import { Failure } from '../parts/notice.tsx'
import { Section } from '../parts/page.tsx'
import { Rated, ratingOf, wordOf } from '../parts/rating.tsx'
import { Time } from '../parts/time.tsx'
import { client, send } from '../service.ts'
import { visible } from '../text.ts'

const SCORES = { Good: 1, Bad: -1 } as const

/** What people said of a run, and a form to say it. `query` names the owner of a run of somebody else. */
export function FeedbackForm({
  id,
  query,
  children,
}: {
  id: string
  query: Readonly<Record<string, string>>
  /** What stands beside the form. It gets what was said. */
  children: (said: StoredFeedback | undefined) => ComponentChildren
}) {
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
    <Section
      id="feedback"
      title="Feedback"
      aside={
        <div class="actions say">
          <textarea
            aria-label={value ? 'Change your feedback' : 'Your feedback on this run'}
            placeholder={value ? 'Change your feedback' : 'Your feedback on this run'}
            rows={1}
            maxLength={4000}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <button type="button" disabled={isBusy} onClick={() => void rate('Good')}>
            <Rated rating="positive" isBeside /> Good
          </button>
          <button type="button" disabled={isBusy} onClick={() => void rate('Bad')}>
            <Rated rating="negative" isBeside /> Bad
          </button>
          {children(value)}
        </div>
      }
    >
      <div role="status">{value && <Given feedback={value} />}</div>
      {unread !== undefined && <Failure error={unread} />}
      {error !== undefined && <Failure error={error} />}
    </Section>
  )
}

/** What was said of a run. */
export function Given({ feedback: { score, text, correction, updatedAt } }: { feedback: StoredFeedback }) {
  const rating = ratingOf(score)
  return (
    <p class="said quote plain">
      {score === undefined ? (
        <strong>Feedback</strong>
      ) : (
        <>
          <Rated rating={rating} isBeside /> <strong>{wordOf(rating)}</strong>
        </>
      )}
      {text !== undefined && `: ${visible(text)}`}
      {correction !== undefined && `\nRight output: ${visible(correction)}`}{' '}
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
