import { Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { LazyPage, mayHavePage } from '../apps/lazy-page.tsx'
import { memo } from '../memo.ts'
import { Action, useActing } from '../parts/action.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Folded } from '../parts/folded.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { linkTo } from '../route.ts'
import { config } from '../service.ts'
import { duration, money, number, visible } from '../text.ts'
import { AsCode } from './as-code.tsx'
import type { Chat } from './chats.ts'
import { Contents } from './file-view.tsx'
import { PartView } from './part-view.tsx'
import { type Answer, toolCallsIn } from './parts.ts'
import { Requests } from './requests.tsx'
import type { Beside, Turn } from './turn.ts'

/** Pixels from the end of the page that still count as the end. */
const NEAR = 60

/** The messages of a chat with their answers. At the end of the page, it scrolls along. */
export function Messages({ chat }: { chat: Chat }) {
  const list = useRef<HTMLOListElement>(null)
  const turns = chat.turns.value
  useEffect(() => scrollAlong(list.current!), [])
  // After sending, the user wants to see the answer.
  useEffect(() => scrollToEnd(list.current!), [turns.at(-1)?.key])
  return (
    <ol class="messages" ref={list}>
      {turns.map(turn => (
        <TurnView key={turn.key} chat={chat} turn={turn} />
      ))}
    </ol>
  )
}

const TurnView = memo(({ chat, turn }: { chat: Chat; turn: Turn }) => (
  <li>
    <article class="message user" aria-label="Your message">
      {typeof turn.input === 'string' ? (
        <p class="plain" dir="auto">
          {visible(turn.input)}
        </p>
      ) : (
        <Contents parts={turn.input} name="" />
      )}
    </article>
    {turn.beside && <Branches chat={chat} beside={turn.beside} />}
    <AnswerView chat={chat} turn={turn} />
    <Margin turn={turn} />
  </li>
))

function AnswerView({ chat, turn }: { chat: Chat; turn: Turn }) {
  const answer = turn.answer.value
  const { parts, status, error, requests } = answer
  const isRunning = status === 'running'
  return (
    <article class="message answer" aria-label={`Answer of ${chat.name}`} aria-busy={isRunning}>
      <h2 class="unseen">Answer</h2>
      {parts.map((part, index) => (
        <Fragment key={part.key}>
          <PartView part={part} isWhole={!isRunning || index < parts.length - 1} />
          {mayHavePage(part) && <LazyPage chat={chat} part={part} text={textOf(answer)} />}
        </Fragment>
      ))}
      {error !== undefined && (
        <Notice>
          <span class="bad">Error:</span> {visible(error.message)} {error.code && <code>{error.code}</code>}
        </Notice>
      )}
      {requests.length > 0 && (
        <Requests
          requests={requests}
          respond={answers => chat.respond(turn, answers)}
          lookAgain={() => chat.lookAgain(turn)}
        />
      )}
      {status === 'queued' && <Withdrawal withdraw={() => chat.withdraw(turn)} />}
      {!isRunning && status !== 'queued' && <Actions chat={chat} turn={turn} text={textOf(answer)} />}
    </article>
  )
}

/** Leads to the turns that come after the same turn as this one. */
function Branches({ chat, beside: { runIds, at } }: { chat: Chat; beside: Beside }) {
  const acting = useActing()
  const step = (by: number, name: string, arrow: string) => {
    const runId = runIds[at + by]
    return (
      <button
        type="button"
        class="quiet"
        aria-label={name}
        disabled={runId === undefined || acting.isBusy || chat.isBusy}
        onClick={() => runId !== undefined && void acting.act(() => chat.choose(runId))}
      >
        {arrow}
      </button>
    )
  }
  return (
    <p class="branches soft">
      {step(-1, 'Earlier version', '‹')} {number(at + 1)} of {number(Math.max(runIds.length, at + 1))}{' '}
      {step(1, 'Later version', '›')}
      {acting.error !== undefined && <Failure error={acting.error} />}
    </p>
  )
}

/** Takes back a message that waits. */
function Withdrawal({ withdraw }: { withdraw: () => Promise<void> }) {
  const acting = useActing()
  return (
    <div class="actions">
      <Action acting={acting} work={withdraw}>
        Remove
      </Action>
      {acting.error !== undefined && <Failure error={acting.error} />}
    </div>
  )
}

/** The facts of an answer, and the way to its run. */
function Margin({ turn: { answer } }: { turn: Turn }) {
  const { status, usage, durationMs, runId } = answer.value
  return (
    <aside class="margin" aria-label="About the answer">
      <Status run={{ status }} />
      {durationMs !== undefined && <span>{duration(durationMs)}</span>}
      {usage !== undefined && usage.totalTokens > 0 && <span>{counted(usage.totalTokens, 'token')}</span>}
      {usage?.cost !== undefined && <span>{money(usage.cost)}</span>}
      {runId !== undefined && config.value.notStored === null && (
        <a href={linkTo('runs', [runId])}>See the run</a>
      )}
    </aside>
  )
}

function Actions({ chat, turn, text }: { chat: Chat; turn: Turn; text: string }) {
  const { isBusy } = chat
  return (
    <div class="actions">
      {text !== '' && <CopyButton text={text} label="answer" />}
      <button type="button" class="quiet" disabled={isBusy} onClick={() => void chat.send(turn.input, turn)}>
        Run again
      </button>
      <button
        type="button"
        class="quiet"
        disabled={isBusy}
        onClick={() => {
          chat.edited.value = turn
        }}
      >
        Edit and run again
      </button>
      <Folded summary="As code">{() => <AsCode chat={chat} turn={turn} />}</Folded>
    </div>
  )
}

/** Announces the status of the last answer. */
export function AnswerAnnouncer({ chat }: { chat: Chat }) {
  const last = chat.turns.value.at(-1)?.answer.value
  return (
    <p class="soft" role="status">
      {last && announcementOf(last)}
    </p>
  )
}

function announcementOf(answer: Answer): string {
  const calls = toolCallsIn(answer)
  switch (answer.status) {
    case 'queued':
      return 'Your message waits for the answer before it'
    case 'running':
      return 'Answering…'
    case 'failed':
      return `Answer failed: ${answer.error?.code ?? 'unknown'}`
    case 'cancelled':
      return 'Answer stopped'
    case 'input_required':
      return `The agent is waiting for you: ${counted(answer.requests.length, 'request')}`
    default:
      return calls === 0 ? 'Answer complete' : `Answer complete, ${counted(calls, 'tool call')}`
  }
}

function counted(count: number, what: string): string {
  return `${number(count)} ${what}${count === 1 ? '' : 's'}`
}

function textOf({ parts }: Answer): string {
  return parts.map(part => (part.kind === 'text' ? part.text : '')).join('')
}

/** What scrolls a list of messages: its part of the sheet, or the page on a phone. */
function scrollerOf(list: Element): Element {
  const part = list.closest('.turns')
  const isScrolling = part && /auto|scroll/.test(getComputedStyle(part).overflowY)
  return isScrolling ? part : document.documentElement
}

function scrollToEnd(list: Element): void {
  const scroller = scrollerOf(list)
  scroller.scrollTo({ top: scroller.scrollHeight, behavior: 'instant' })
}

/** Keeps the end of the messages visible while they grow, unless the user has scrolled away from it. */
function scrollAlong(list: Element): () => void {
  let isAtEnd = true
  const look = () => {
    const { scrollHeight, clientHeight, scrollTop } = scrollerOf(list)
    isAtEnd = scrollHeight - clientHeight - scrollTop < NEAR
  }
  const observer = new ResizeObserver(() => {
    if (isAtEnd) scrollToEnd(list)
  })
  observer.observe(list)
  addEventListener('scroll', look, { passive: true, capture: true })
  return () => {
    observer.disconnect()
    removeEventListener('scroll', look, { capture: true })
  }
}
