import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import type { ApprovalDetail, Decider } from '../../src/features/approvals/service.ts'
import { lookAgain } from '../live.ts'
import { useLoaded } from '../loading.ts'
import { Ago, Left } from '../parts/ago.tsx'
import { Facts } from '../parts/facts.tsx'
import { Heading } from '../parts/heading.tsx'
import { Failure } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo, route } from '../route.ts'
import { client, config } from '../service.ts'
import { visible } from '../text.ts'
import { Answering, Asked } from './answering.tsx'
import { lineOf, wishOf } from './inbox.ts'
import { addressOf, Decided, Elsewhere, type Outcome } from './outcome.tsx'
import { Said } from './said.tsx'

/** One request: who asks for what, what was said before, and the form that decides it. */
export function Request({
  waiting,
  isGone,
  outcome,
  onDecided,
}: {
  waiting: WaitingRequest
  /** Whether it no longer waits. */
  isGone: boolean
  /** What the user has decided. */
  outcome: Outcome | undefined
  onDecided: (outcome: Outcome) => void
}) {
  const { request, run, createdAt, expiresAt } = waiting
  const isOpen = !isGone && outcome === undefined
  const { value, error } = useLoaded(run.id, signal => client.approvals.get(run.id, { signal }))
  // Without a choice of the user, the focus stays where it is.
  const Title = route.value.path.length > 0 ? Heading : 'h1'
  return (
    <article class="asks">
      <div class="title">
        <p class="actions soft">
          {isOpen && (
            <span class="s wait">
              <i class="i wait" />
              Waiting
            </span>
          )}
          <span>{visible(wishOf(waiting))}</span>
          <span class="push">
            {isOpen && expiresAt ? <Left until={expiresAt} /> : <Ago at={createdAt} />}
          </span>
        </p>
        <Title>{visible(lineOf(waiting))}</Title>
      </div>
      <Facts facts={{ ...factsOf(waiting), 'May decide': value && deciders(request.kind, value) }} />
      {outcome && <Decided outcome={outcome} />}
      {isGone && !outcome && <Elsewhere id={request.id} run={run.id} />}
      <div class="split">
        <div class="talk">
          {value === undefined && error === undefined && <Loading />}
          {error !== undefined && isOpen && <Failure error={error} />}
          {value && <Said messages={value.messages} agent={run.name} />}
          <Ways run={waiting.run} />
        </div>
        {isOpen ? (
          <Answering waiting={waiting} keys onChanged={lookAgain} onDecided={onDecided} />
        ) : (
          <Asked request={request} edited={outcome?.edited} />
        )}
      </div>
    </article>
  )
}

function factsOf({ run, createdAt, expiresAt }: WaitingRequest) {
  return {
    'Asked by': run.owner === undefined ? 'you' : visible(run.owner ?? 'nobody known'),
    User: run.userId && run.userId !== (run.owner ?? config.value.identity?.id) && visible(run.userId),
    Since: <Time at={createdAt} />,
    Expires: expiresAt && <Time at={expiresAt} />,
    'A2A task': run.isTask && <code>{run.id}</code>,
  }
}

/** Who may decide, in words. */
const DECIDERS: Readonly<Record<Decider, string>> = {
  owner: 'who asked',
  authorized: 'whoever the service lets',
  role: 'roles that may answer',
}

function deciders(kind: string, { deciders }: ApprovalDetail): string {
  // Nobody answers a question for somebody else.
  if (kind !== 'approval') return DECIDERS.owner
  return deciders.map(each => DECIDERS[each]).join(', ')
}

/** The ways to its run and its conversation, if the user may see them. */
function Ways({ run }: { run: WaitingRequest['run'] }) {
  const address = addressOf(run)
  if (address === undefined) return null
  const { kind, name, id, sessionId } = run
  const hasSession = sessionId !== undefined && config.value.plugins.includes('sessions')
  return (
    <p class="actions">
      <a href={address}>See the run</a>
      {run.owner === undefined && (
        <a href={linkTo('chat', [kind, name], hasSession ? { session: sessionId } : { run: id })}>
          Open in chat
        </a>
      )}
    </p>
  )
}
