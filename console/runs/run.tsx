import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'
import type { RunRecord } from '../../src/client/index.ts'
import { Approval } from '../approvals/approval.tsx'
import { Action, useActing } from '../parts/action.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Heading } from '../parts/heading.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo, route } from '../route.ts'
import { client, config, providerKeys } from '../service.ts'
import { EventRows } from './event-rows.tsx'
import { FeedbackForm } from './feedback.tsx'
import { RunLog } from './log.ts'
import { COLUMNS } from './numbers.ts'
import { Timeline } from './timeline.tsx'

/** One run: its facts, its actions, and its events. */
export function Run({ id }: { id: string }) {
  const [turn, again] = useReducer<number, void>(count => count + 1, 0)
  const [version, draw] = useReducer<number, void>(count => count + 1, 0)
  const [log, setLog] = useState<RunLog>()
  useLayoutEffect(() => {
    const controller = new AbortController()
    const next = new RunLog(id, draw)
    setLog(next)
    void next.follow(controller.signal)
    return () => controller.abort()
  }, [turn])
  const { record, error } = log ?? {}
  return (
    <>
      <Heading>{record ? `${record.kind} ${record.name}` : 'Run'}</Heading>
      {error !== undefined && <Failure error={error} />}
      {log?.isLost && <Notice>The connection is lost. The console tries again.</Notice>}
      {!record && error === undefined && <p aria-busy="true">Loading…</p>}
      {record && (
        <>
          <Summary record={record} />
          <Actions record={record} reload={again} />
          {record.requests?.map(request => (
            <Approval
              key={request.digest}
              waiting={{ request, run: record, createdAt: record.updatedAt }}
              onChanged={async () => again()}
              onDecided={next => (next === undefined ? again() : goTo('runs', [next]))}
            />
          ))}
          <Views log={log!} record={record} version={version} />
          {record.status !== 'queued' &&
            record.status !== 'running' &&
            config.value.plugins.includes('sessions') && <FeedbackForm key={id} id={id} />}
        </>
      )}
    </>
  )
}

function Summary({ record }: { record: RunRecord }) {
  const { id, kind, name, createdAt, sessionId, userId, finishReason, error } = record
  const { continuedFrom, continuedBy, model, transport, taskId } = record
  const numbers = Object.fromEntries(COLUMNS.map(({ title, of }) => [title, of(record)]))
  const of = route.value.query.get('of')
  const query = of ? { of } : {}
  const run = (other: string | undefined) => other && <a href={linkTo('runs', [other], query)}>{other}</a>
  return (
    <Facts
      facts={{
        Status: <Status run={record} />,
        Error: error && `${error.message} (${error.code})`,
        'Finish reason': finishReason,
        Position: record.position,
        Started: <Time at={createdAt} />,
        ...numbers,
        Model: model,
        Transport: transport,
        'A2A task': taskId && <code>{taskId}</code>,
        User: userId,
        Owner: of,
        Session: sessionId && <a href={linkTo('sessions', [kind, name, sessionId])}>{sessionId}</a>,
        'Goes on from': run(continuedFrom),
        'Goes on in': run(continuedBy),
        Run: (
          <>
            <code>{id}</code> <CopyButton text={id} label="run id" />
          </>
        ),
      }}
    />
  )
}

function Actions({ record, reload }: { record: RunRecord; reload: () => void }) {
  const acting = useActing()
  const { id, status, resumable, taskId } = record
  const options = { keys: providerKeys.value }
  const query = Object.fromEntries(route.value.query)
  // A task continues over A2A.
  if (taskId !== undefined) return null
  const isOpen =
    status === 'queued' || status === 'running' || (status === 'input_required' && !record.continuedBy)
  return (
    <>
      <p class="actions">
        {isOpen && (
          <Action acting={acting} work={async () => client.runs.cancel(id).then(reload)}>
            Cancel
          </Action>
        )}
        {resumable && (
          <Action
            kind="main"
            acting={acting}
            work={async () => goTo('runs', [(await client.runs.resume(id, options)).id], query)}
          >
            Resume
          </Action>
        )}
        {status !== 'queued' && status !== 'running' && config.value.keepsInput && (
          <Action
            acting={acting}
            work={async () => goTo('runs', [(await client.runs.retry(id, options)).id], query)}
          >
            Retry
          </Action>
        )}
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
    </>
  )
}

const VIEWS: Readonly<
  Record<
    string,
    { title: string; of: (log: RunLog, record: RunRecord, version: number) => ComponentChildren }
  >
> = {
  timeline: { title: 'Timeline', of: (log, _, version) => <Timeline log={log} version={version} /> },
  events: { title: 'Events', of: (log, _, version) => <EventRows log={log} version={version} /> },
  json: { title: 'JSON', of: (_, record) => <JsonView value={record} label="the record" /> },
}

/** The events in one of three views, which the address has. `version` changes as the log grows. */
function Views({ log, record, version }: { log: RunLog; record: RunRecord; version: number }) {
  const { query } = route.value
  const chosen = query.get('view') ?? 'timeline'
  const view = VIEWS[chosen] ?? VIEWS.timeline!
  const queryWith = (id: string) => ({ ...Object.fromEntries(query), view: id })
  return (
    <>
      <nav class="views" aria-label="Views of the run">
        {Object.entries(VIEWS).map(([id, each]) => (
          <a
            key={id}
            href={linkTo('runs', [log.id], queryWith(id))}
            aria-current={each === view || undefined}
          >
            {each.title}
          </a>
        ))}
      </nav>
      {view.of(log, record, version)}
    </>
  )
}
