import type { ComponentChildren } from 'preact'
import { useReducer } from 'preact/hooks'
import type { RunInput, RunRecord } from '../../src/client/index.ts'
import { Approval } from '../approvals/approval.tsx'
import { Action, useActing } from '../parts/action.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Heading } from '../parts/heading.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo, route } from '../route.ts'
import { client, config, may, providerKeys } from '../service.ts'
import { duration, money, number, visible } from '../text.ts'
import { Changed } from './again.tsx'
import { SaveAsCase } from './case.tsx'
import { Compare } from './compare.tsx'
import { EventRows } from './event-rows.tsx'
import { FeedbackForm } from './feedback.tsx'
import { type RunLog, useLog } from './log.ts'
import { costOf, headlineOf, tookMs } from './numbers.ts'
import { Story } from './story.tsx'
import { Timeline } from './timeline.tsx'

/** One run: what was asked, what came of it, and how. */
export function Run({ id }: { id: string }) {
  const [turn, again] = useReducer<number, void>(count => count + 1, 0)
  const { log, version } = useLog(id, turn)
  const { record, error } = log ?? {}
  const owner = route.value.query.get('of') ?? undefined
  // Then input and output are shown beside those of the run before.
  const isCompared = route.value.query.get('view') === 'compare'
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      {log?.isLost && <Notice>The connection is lost. The console tries again.</Notice>}
      {log?.isWaiting && (
        <Notice>
          This browser has no connection left. Close another window of the console to see this run live.
        </Notice>
      )}
      {!record && error === undefined && <Loading />}
      {record && (
        <>
          <Title record={record} owner={owner} />
          <Actions record={record} input={log?.input} owner={owner} reload={again} />
          <Numbers record={record} log={log!} version={version} />
          {record.requests?.map(request => (
            <Approval
              key={request.digest}
              waiting={{ request, run: record, createdAt: record.updatedAt }}
              isOpen={may('answer', owner)}
              onChanged={async () => again()}
              onDecided={next => (next === undefined ? again() : goTo('runs', [next]))}
            />
          ))}
          {!(isCompared && record.retryOf) && <Story record={record} log={log!} version={version} />}
          <Judging key={id} record={record} log={log!} owner={owner} />
          <Views log={log!} record={record} version={version} />
        </>
      )}
    </>
  )
}

/** What people say of a run that has ended, and what tests shall learn from it. */
function Judging({ record, log, owner }: { record: RunRecord; log: RunLog; owner: string | undefined }) {
  const { id, status } = record
  if (status === 'queued' || status === 'running') return null
  if (!config.value.plugins.includes('sessions') || !may('feedback', owner))
    return <SaveAsCase record={record} log={log} />
  return (
    <FeedbackForm id={id} query={owner === undefined ? {} : { owner }}>
      {said => <SaveAsCase record={record} log={log} said={said} />}
    </FeedbackForm>
  )
}

/** The state, where it belongs, and what it is about. */
function Title({ record, owner }: { record: RunRecord; owner: string | undefined }) {
  const { id, kind, name, createdAt, sessionId, userId } = record
  const hasSession =
    sessionId !== undefined && config.value.plugins.includes('sessions') && may('read_input', owner)
  return (
    <div class="title">
      <p class="actions soft">
        <Status run={record} />
        <a class="inline" href={linkTo('agents', [kind, name])}>
          {visible(name)}
        </a>
        <Time at={createdAt} />
        {hasSession && (
          <a class="inline" href={linkTo('sessions', [kind, name, sessionId], owner ? { of: owner } : {})}>
            session
          </a>
        )}
        {(owner ?? userId) !== undefined && <span>{visible(owner ?? userId ?? '')}</span>}
        <code class="push small">{id.slice(0, 8)}</code>
        <CopyButton text={id} label="run id" />
      </p>
      <Heading>{visible(headlineOf(record))}</Heading>
    </div>
  )
}

/** The six facts that count. The rest is behind "More". */
function Numbers({ record, log }: { record: RunRecord; log: RunLog; version: number }) {
  const { firstTextMs, usage, toolCalls, model, transport, taskId, finishReason, position } = record
  const { continuedFrom, continuedBy, retryOf, sessionId, userId } = record
  const took = tookMs(record)
  const cost = costOf(record)
  const calls = log.bars.all.filter(({ kind }) => kind === 'model').length
  const failed = log.bars.all.filter(({ kind, state }) => kind === 'tool' && state === 'failed').length
  const tools = toolCalls ?? log.bars.all.filter(({ kind }) => kind === 'tool').length
  const query = Object.fromEntries(route.value.query)
  const run = (other: string | undefined) =>
    other && <a href={linkTo('runs', [other], query)}>{other.slice(0, 8)}</a>
  return (
    <div class="numbers">
      <Facts
        facts={{
          Took: took !== undefined && duration(took),
          'First text': firstTextMs !== undefined && duration(firstTextMs),
          Cost: cost !== undefined && money(cost),
          Tokens: usage && number(usage.totalTokens),
          'Model calls': calls > 0 && number(calls),
          'Tool calls': tools > 0 && (
            <>
              {number(tools)}
              {failed > 0 && <span class="bad">, {number(failed)} failed</span>}
            </>
          ),
          'Place in the queue': position,
          Continues: run(continuedFrom),
          'Continued by': run(continuedBy),
          Repeats: run(retryOf),
        }}
      />
      <details>
        <summary>More</summary>
        <Facts
          facts={{
            Agent: `${record.kind} ${visible(record.name)}`,
            Model: model && visible(model),
            Transport: transport,
            'Finish reason': finishReason,
            'A2A task': taskId && <code>{taskId}</code>,
            User: userId && visible(userId),
            Session: sessionId && visible(sessionId),
            'Last changed': <Time at={record.updatedAt} />,
            Run: <code>{record.id}</code>,
          }}
        />
      </details>
    </div>
  )
}

function Actions({
  record,
  input,
  owner,
  reload,
}: {
  record: RunRecord
  input: RunInput | undefined
  owner: string | undefined
  reload: () => void
}) {
  const acting = useActing()
  const { id, kind, name, sessionId, status, resumable, taskId } = record
  const options = { keys: providerKeys.value }
  const query = Object.fromEntries(route.value.query)
  // A task continues over A2A.
  if (taskId !== undefined) return null
  const isOpen =
    status === 'queued' || status === 'running' || (status === 'input_required' && !record.continuedBy)
  const isOver = status !== 'queued' && status !== 'running'
  const isOwn = owner === undefined || owner === config.value.identity?.id
  return (
    <>
      <p class="actions">
        {isOpen && may('cancel', owner) && (
          <Action acting={acting} work={async () => client.runs.cancel(id).then(reload)}>
            Stop
          </Action>
        )}
        {resumable && may('retry', owner) && (
          <Action
            kind="main"
            acting={acting}
            work={async () => goTo('runs', [(await client.runs.resume(id, options)).id], query)}
          >
            Resume
          </Action>
        )}
        {isOver && config.value.keepsInput && may('retry', owner) && (
          <Action
            acting={acting}
            work={async () => goTo('runs', [(await client.runs.retry(id, options)).id], query)}
          >
            Run again
          </Action>
        )}
        {isOver && isOwn && input !== undefined && config.value.keepsInput && (
          <Changed record={record} input={input} />
        )}
        {isOwn && (
          <a
            class="button"
            href={linkTo(
              'chat',
              [kind, name],
              sessionId === undefined ? { run: id } : { session: sessionId },
            )}
          >
            Open in chat
          </a>
        )}
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
    </>
  )
}

interface View {
  readonly title: string
  readonly of: (log: RunLog, record: RunRecord, version: number) => ComponentChildren
}

const VIEWS: Readonly<Record<string, View>> = {
  timeline: { title: 'Timeline', of: (log, _, version) => <Timeline log={log} version={version} /> },
  events: { title: 'Events', of: (log, _, version) => <EventRows log={log} version={version} /> },
  json: { title: 'JSON', of: (_, record) => <JsonView value={record} label="the record" /> },
}

function comparing(before: string): View {
  return { title: 'Compare', of: log => <Compare key={before} log={log} before={before} /> }
}

/** The events in one of three views, or the run beside the one before, as the address says. `version` changes as the log grows. */
function Views({ log, record, version }: { log: RunLog; record: RunRecord; version: number }) {
  const { query } = route.value
  const chosen = query.get('view') ?? 'timeline'
  const { retryOf } = record
  const views = retryOf === undefined ? VIEWS : { ...VIEWS, compare: comparing(retryOf) }
  const view = views[chosen] ?? VIEWS.timeline!
  const queryWith = (id: string) => ({ ...Object.fromEntries(query), view: id })
  return (
    <>
      <nav class="seg views" aria-label="Views of the run">
        {Object.entries(views).map(([id, each]) => (
          <a
            key={id}
            href={linkTo('runs', [log.id], queryWith(id))}
            aria-current={each.title === view.title || undefined}
          >
            {each.title}
          </a>
        ))}
      </nav>
      {view.of(log, record, version)}
    </>
  )
}
