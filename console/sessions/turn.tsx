import type { ComponentChildren } from 'preact'
import type { RunInput, TurnPage } from '../../src/client/index.ts'
import { Contents } from '../chat/file-view.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo, route } from '../route.ts'
import { Given } from '../runs/feedback.tsx'
import { clock, number, visible } from '../text.ts'
import { textOfInput } from './input-text.ts'

export type Turn = TurnPage['turns'][number]

/** A turn with all that is known of it. */
export function TurnItem({ turn, fork }: { turn: Turn; fork?: (() => void) | undefined }) {
  const { runId, input, steered = [], text, toolCalls, status, error, at, feedback } = turn
  const owner = route.value.query.get('of')
  return (
    <li>
      <p class="said quote plain" dir="auto">
        {visible(textOfInput(input))}
      </p>
      {steered.map(each => (
        <div key={each.runId} class="steered">
          <p class="soft small">
            Sent while the agent was answering{each.userId !== undefined && ` by ${visible(each.userId)}`} at{' '}
            {clock(each.at)}
          </p>
          <p class="said quote plain" dir="auto">
            {visible(textOfInput(each.input))}
          </p>
        </div>
      ))}
      {toolCalls !== undefined && toolCalls.length > 0 && (
        <p class="soft small">Tools: {visible(toolCalls.map(({ toolName }) => toolName).join(', '))}</p>
      )}
      {text !== undefined && <Markdown text={text} isWhole />}
      {feedback && <Given feedback={feedback} />}
      <p class="actions soft small">
        <Status status={STATUSES[status] ?? status} />
        {error && <code>{error}</code>}
        <Versions turn={turn} />
        <Time at={new Date(at).toISOString()} />
        <a href={linkTo('runs', [runId], owner ? { of: owner } : {})}>See the run</a>
        {fork && status !== 'running' && (
          <button type="button" class="quiet" onClick={fork}>
            Fork up to here
          </button>
        )}
      </p>
    </li>
  )
}

/** The status of a turn as that of its run. */
const STATUSES: Readonly<Record<string, string>> = { cut: 'cancelled', interrupted: 'failed' }

/** The place of a turn among those that come after the same one, and the way to its neighbours. */
function Versions({ turn: { runId, alternatives = [] } }: { turn: Turn }) {
  if (alternatives.length < 2) return null
  const at = alternatives.indexOf(runId)
  const step = (by: number, name: string, arrow: string) => {
    const other = alternatives[at + by]
    const { path, query } = route.value
    return other === undefined ? null : (
      <a
        class="button"
        aria-label={name}
        href={linkTo('sessions', path, { ...Object.fromEntries(query), branch: other })}
      >
        {arrow}
      </a>
    )
  }
  return (
    <span class="versions">
      {step(-1, 'Earlier version', '‹')} {number(at + 1)} of {number(alternatives.length)}{' '}
      {step(1, 'Later version', '›')}
    </span>
  )
}

/** A turn as its people saw it: what was said by either side, and nothing else. */
export function SeenTurn({ turn: { input, steered = [], text, status } }: { turn: Turn }) {
  return (
    <>
      <Said by="user">{contentOf(input)}</Said>
      {steered.map(each => (
        <Said key={each.runId} by="user">
          {contentOf(each.input)}
        </Said>
      ))}
      {text !== undefined && (
        <Said by="answer">
          <Markdown text={text} isWhole={status !== 'running'} />
        </Said>
      )}
      {text === undefined && (
        <Said by="answer">
          <p class="soft">{status === 'running' ? 'The answer is being written.' : 'There was no answer.'}</p>
        </Said>
      )}
    </>
  )
}

function Said({ by, children }: { by: 'user' | 'answer'; children: ComponentChildren }) {
  return (
    <li class={by === 'user' ? 'asked' : undefined}>
      <span class="unseen">{by === 'user' ? 'User: ' : 'Answer: '}</span>
      {children}
    </li>
  )
}

function contentOf(input: RunInput): ComponentChildren {
  if (typeof input !== 'string') return <Contents parts={input} name="" />
  return (
    <p class="plain" dir="auto">
      {visible(input)}
    </p>
  )
}
