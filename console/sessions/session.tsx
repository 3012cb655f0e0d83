import { useRef } from 'preact/hooks'
import type { RunTarget, SessionSummary } from '../../src/client/index.ts'
import { forgetChat } from '../chat/chats.ts'
import { useLoaded } from '../loading.ts'
import { usePages } from '../pages.ts'
import { type Acting, Action, useActing } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/form.tsx'
import { Heading } from '../parts/heading.tsx'
import { More } from '../parts/more.tsx'
import { Failure } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo, route } from '../route.ts'
import { client, codeOf, config, may } from '../service.ts'
import { visible } from '../text.ts'
import { SeenTurn, type Turn, TurnItem } from './turn.tsx'

/** One session: its turns and its actions. */
export function Session({ of, id, onChanged }: { of: RunTarget; id: string; onChanged: () => void }) {
  const { value: session, error, reload } = useLoaded('', signal => client.sessions.get(of, id, { signal }))
  const { branch: shown, view, ...rest } = Object.fromEntries(route.value.query)
  const isOwn = rest.of === undefined || rest.of === config.value.identity?.id
  // People saw the branch that counts.
  const branch = view === 'seen' ? undefined : shown
  const pages = usePages<Turn>(branch ?? '', async (cursor, signal) => {
    const asked = { ...(cursor && { cursor }), ...(branch && { branch }) }
    const { turns, nextCursor } = await client.sessions.messages(of, id, asked, { signal })
    return { items: turns, nextCursor }
  })
  const acting = useActing()
  const fork = async (runId?: string) => {
    const next = await client.sessions.fork(of, id, runId === undefined ? {} : { runId })
    onChanged()
    goTo('sessions', [next.kind, next.name, next.id])
  }
  const choose = async (runId: string) => {
    await client.sessions.setHead(of, id, runId)
    onChanged()
    goTo('sessions', [of.kind, of.name, id], rest)
  }
  const turns = pages.items.toReversed()
  return (
    <>
      <Heading>{visible(session?.title ?? id)}</Heading>
      {error !== undefined && (
        <Failure error={error} absent="This session does not exist. It may have been deleted." />
      )}
      {session && (
        <>
          <Head
            of={of}
            session={session}
            owner={rest.of}
            acting={acting}
            fork={fork}
            reload={reload}
            onChanged={onChanged}
          />
          <Views isSeen={view === 'seen'} />
        </>
      )}
      {branch !== undefined && (
        <OtherBranch
          of={of}
          id={id}
          last={pages.items[0]?.runId}
          choose={isOwn ? () => choose(branch) : undefined}
        />
      )}
      <More
        pages={pages}
        none="This session has no messages yet."
        absent="This session does not exist. It may have been deleted."
        label="Load earlier messages"
      />
      {view === 'seen' ? (
        <ol class="talk seen">
          {turns.map(turn => (
            <SeenTurn key={turn.runId} turn={turn} />
          ))}
        </ol>
      ) : (
        <ol class="talk">
          {turns.map(turn => (
            <TurnItem
              key={turn.runId}
              turn={turn}
              fork={isOwn ? () => void acting.act(() => fork(turn.runId)) : undefined}
            />
          ))}
        </ol>
      )}
    </>
  )
}

/** What the session is, and what can be done with it. Others than its owner may only read and delete it. */
function Head({
  of,
  session,
  owner,
  acting,
  fork,
  reload,
  onChanged,
}: {
  of: RunTarget
  session: SessionSummary
  /** Whose it is, if it is of somebody else. */
  owner: string | undefined
  acting: Acting
  fork: () => Promise<void>
  reload: () => void
  /** Called once it is not as its list says. */
  onChanged: () => void
}) {
  const renaming = useRef<HTMLDialogElement>(null)
  const deleting = useRef<HTMLDialogElement>(null)
  const { id } = session
  const isOwn = owner === undefined || owner === config.value.identity?.id
  const rename = async (form: FormData) => {
    await client.sessions.rename(of, id, String(form.get('title')))
    reload()
    onChanged()
  }
  const remove = async (running?: 'cancel') => {
    await client.sessions.delete(of, id, { ...(running && { running }) })
    forgetChat(of.kind, of.name, id)
    onChanged()
    goTo('sessions', [], owner === undefined ? {} : { of: owner })
  }
  return (
    <>
      <p class="soft">
        {of.kind} {of.name}, {owner !== undefined && `of ${visible(owner)}, `}since{' '}
        <Time at={session.createdAt} />
      </p>
      <p class="actions">
        {isOwn && (
          <a class="button" href={linkTo('chat', [of.kind, of.name, id])}>
            Open in chat
          </a>
        )}
        <a
          class="button"
          href={linkTo('runs', [], { ...of, sessionId: id, ...(owner !== undefined && { owner }) })}
        >
          See its runs
        </a>
        {isOwn && (
          <>
            <button type="button" onClick={() => renaming.current?.showModal()}>
              Rename
            </button>
            <Action acting={acting} work={() => fork()}>
              Fork
            </Action>
          </>
        )}
        {may('delete', owner) && (
          <button type="button" onClick={() => deleting.current?.showModal()}>
            Delete
          </button>
        )}
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
      <Dialog dialog={renaming} title="Rename the session" submit="Rename" work={rename}>
        <Field name="title" label="Title">
          <input required maxLength={200} defaultValue={session.title ?? ''} />
        </Field>
      </Dialog>
      <Dialog dialog={deleting} title="Delete the session?" submit="Delete" work={() => remove()}>
        {({ error: why, act }) => (
          <>
            <p>Its messages, its runs and their files are deleted. This cannot be undone.</p>
            {codeOf(why) === 'session_busy' && (
              <button type="button" onClick={() => void act(() => remove('cancel'))}>
                Stop its runs and delete it
              </button>
            )}
          </>
        )}
      </Dialog>
    </>
  )
}

/** All turns, or what their people saw of them. */
function Views({ isSeen }: { isSeen: boolean }) {
  const { path, query } = route.value
  const { branch: _, view: __, ...rest } = Object.fromEntries(query)
  const link = (title: string, isOn: boolean, more: object) => (
    <a href={linkTo('sessions', path, { ...rest, ...more })} aria-current={isOn || undefined}>
      {title}
    </a>
  )
  return (
    <nav class="seg views" aria-label="Views of the session">
      {link('Turns', !isSeen, {})}
      {link('As they saw it', isSeen, { view: 'seen' })}
    </nav>
  )
}

/** Says that another branch than the shown one counts, and the ways on. */
function OtherBranch({
  of,
  id,
  last,
  choose,
}: {
  of: RunTarget
  id: string
  /** The run of the last turn that is shown. */
  last: string | undefined
  choose: (() => Promise<unknown>) | undefined
}) {
  const acting = useActing()
  const { value, error } = useLoaded(last ?? '', signal => client.sessions.branches(of, id, { signal }))
  const { path, query } = route.value
  const { branch: _, ...rest } = Object.fromEntries(query)
  if (error !== undefined) return <Failure error={error} />
  if (value === undefined || value.some(({ runId, isHead }) => isHead && runId === last)) return null
  return (
    <div class="notice">
      This is not the current version of the session. The next message continues the current one.
      <p class="actions">
        <a class="button" href={linkTo('sessions', path, rest)}>
          Show the current version
        </a>
        {choose && (
          <Action acting={acting} work={choose}>
            Make this the current version
          </Action>
        )}
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
    </div>
  )
}
