import { useRef } from 'preact/hooks'
import type { RunTarget, TurnPage } from '../../src/client/index.ts'
import { forgetChat } from '../chat/chats.ts'
import { useLoaded } from '../loading.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { usePages } from '../pages.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { More } from '../parts/more.tsx'
import { Failure } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo } from '../route.ts'
import { Given } from '../runs/feedback.tsx'
import { client, codeOf } from '../service.ts'
import { visible } from '../text.ts'
import { textOfInput } from './input-text.ts'

type Turn = TurnPage['turns'][number]

/** One session: its turns and its actions. */
export function Session({ of, id, onChanged }: { of: RunTarget; id: string; onChanged: () => void }) {
  const { value: session, error, reload } = useLoaded('', signal => client.sessions.get(of, id, { signal }))
  const pages = usePages<Turn>('', async (cursor, signal) => {
    const { turns, nextCursor } = await client.sessions.messages(of, id, cursor ? { cursor } : {}, { signal })
    return { items: turns, nextCursor }
  })
  const acting = useActing()
  const renaming = useRef<HTMLDialogElement>(null)
  const deleting = useRef<HTMLDialogElement>(null)
  const title = visible(session?.title ?? id)
  const fork = async (runId?: string) => {
    const next = await client.sessions.fork(of, id, runId === undefined ? {} : { runId })
    onChanged()
    goTo('sessions', [next.kind, next.name, next.id])
  }
  const rename = async (form: FormData) => {
    await client.sessions.rename(of, id, String(form.get('title')))
    reload()
    onChanged()
  }
  const remove = async (running?: 'cancel') => {
    await client.sessions.delete(of, id, { ...(running && { running }) })
    forgetChat(of.kind, of.name, id)
    onChanged()
    goTo('sessions')
  }
  return (
    <>
      <Heading>{title}</Heading>
      {error !== undefined && <Failure error={error} absent="There is no such session." />}
      {session && (
        <>
          <p class="soft">
            {of.kind} {of.name}, begun <Time at={session.createdAt} />
          </p>
          <p class="actions">
            <a class="button" href={linkTo('chat', [of.kind, of.name, id])}>
              Open in chat
            </a>
            <a class="button" href={linkTo('runs', [], { ...of, sessionId: id })}>
              Its runs
            </a>
            <button type="button" onClick={() => renaming.current?.showModal()}>
              Rename
            </button>
            <Action acting={acting} work={() => fork()}>
              Fork
            </Action>
            <button type="button" onClick={() => deleting.current?.showModal()}>
              Delete
            </button>
          </p>
          {acting.error !== undefined && <Failure error={acting.error} />}
          <Dialog dialog={renaming} title="Rename the session" submit="Rename" work={rename}>
            <label>
              Title
              <input name="title" required maxLength={200} defaultValue={session.title ?? ''} />
            </label>
          </Dialog>
          <Dialog dialog={deleting} title="Delete the session?" submit="Delete" work={() => remove()}>
            {({ error: why, act }) => (
              <>
                <p>Its turns, its runs and their files are deleted. This cannot be undone.</p>
                {codeOf(why) === 'session_busy' && (
                  <button type="button" onClick={() => void act(() => remove('cancel'))}>
                    Cancel its runs and delete it
                  </button>
                )}
              </>
            )}
          </Dialog>
        </>
      )}
      <More
        pages={pages}
        none="It has no turns."
        absent="There is no such session."
        label="Load older turns"
      />
      <ol class="talk">
        {pages.items.toReversed().map(turn => (
          <TurnItem key={turn.runId} turn={turn} fork={() => void acting.act(() => fork(turn.runId))} />
        ))}
      </ol>
    </>
  )
}

function TurnItem({ turn, fork }: { turn: Turn; fork: () => void }) {
  const { runId, input, text, toolCalls, status, error, at, feedback } = turn
  return (
    <li>
      <p class="said quote plain" dir="auto">
        {visible(textOfInput(input))}
      </p>
      {toolCalls !== undefined && toolCalls.length > 0 && (
        <p class="soft small">Tools: {visible(toolCalls.map(({ toolName }) => toolName).join(', '))}</p>
      )}
      {text !== undefined && <Markdown text={text} isWhole />}
      {feedback && <Given feedback={feedback} />}
      <p class="actions soft small">
        <Status status={STATUSES[status] ?? status} />
        {error && <code>{error}</code>}
        <Time at={new Date(at).toISOString()} />
        <a href={linkTo('runs', [runId])}>See the run</a>
        {status !== 'running' && (
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
