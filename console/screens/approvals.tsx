import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import { groupsOf, type InboxFilter, inStableOrder, isListed } from '../approvals/inbox.ts'
import { type Fate, InboxChoice, InboxKeys, InboxList } from '../approvals/list.tsx'
import { hasInbox, hasMoreWaiting, inboxError, inboxes } from '../approvals/live.ts'
import { Elsewhere, type Outcome } from '../approvals/outcome.tsx'
import { Request } from '../approvals/request.tsx'
import { Several } from '../approvals/several.tsx'
import { lookAgain } from '../live.ts'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { Panes } from '../parts/panes.tsx'
import { goTo, route } from '../route.ts'
import { config } from '../service.ts'
import { useKey } from '../shell/press.ts'
import { number } from '../text.ts'

/** Whether there is room for a detail beside the list. */
const WIDE = matchMedia('(min-width: 768px)')
const isWide = signal(WIDE.matches)
WIDE.addEventListener('change', () => (isWide.value = WIDE.matches))

/** The requests that wait for the user, and the details of one. */
export function Approvals() {
  const { mine, others } = inboxes.value
  const [all, setAll] = useState<readonly WaitingRequest[]>([])
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => {
    setAll(before => inStableOrder(before, [mine ?? new Map(), others ?? new Map()]))
  }, [mine, others])
  const { path, query } = route.value
  const filter = filterOf(query)
  const shown = groupsOf(all.filter(each => isListed(each, filter))).flatMap(({ waiting }) => waiting)
  const isKnown = mine !== undefined && others !== undefined
  const isGone = (id: string) => !mine?.has(id) && !others?.has(id)
  const fateOf = (id: string): Fate => outcomes.get(id)?.is ?? (isGone(id) ? 'gone' : undefined)
  const waits = shown.filter(({ request }) => fateOf(request.id) === undefined).length
  const chosen = path[0] ?? (isWide.value ? shown[0]?.request.id : undefined)
  const one = all.find(({ request }) => request.id === chosen)
  const decided = (requests: readonly WaitingRequest[], outcome: Outcome) => {
    setOutcomes(
      before => new Map([...before, ...requests.map(({ request }) => [request.id, outcome] as const)]),
    )
    // A failure is shown with the list.
    void lookAgain().catch(() => {})
  }
  const go = (step: number) => {
    const at = shown.findIndex(({ request }) => request.id === chosen)
    const to = shown[at === -1 ? 0 : at + step]
    if (to) goTo('approvals', [to.request.id], { ...filter })
  }
  const open = all.filter(({ request }) => fateOf(request.id) === undefined)
  const pick = (ids: readonly string[], isPicked: boolean) =>
    setPicked(before => {
      const after = new Set(before)
      for (const id of ids) isPicked ? after.add(id) : after.delete(id)
      return after
    })
  useKey('x', () => {
    const at = open.find(({ request }) => request.id === chosen && request.kind === 'approval')
    if (at) pick([at.request.id], !picked.has(at.request.id))
  })
  useKey('j', () => go(1))
  useKey('k', () => go(-1))
  return (
    <Panes
      all="Approvals"
      list={
        <>
          <div class="bar">
            <div class="top">
              <h1 tabIndex={-1}>Approvals</h1>
              <span class="soft small" role="status">
                {isKnown && shown.length > 0 && (waits === 1 ? '1 waits' : `${number(waits)} wait`)}
              </span>
              {all.length > 0 && <InboxChoice of={all} filter={filter} />}
            </div>
            {all.length > 0 && <InboxKeys />}
          </div>
          {!hasInbox.value && <Absent />}
          {inboxError.value !== undefined && <Failure error={inboxError.value} />}
          {hasInbox.value && !isKnown && inboxError.value === undefined && <Loading />}
          {isKnown && shown.length === 0 && (
            <Empty>
              {all.length === 0 ? 'Nothing is waiting for you.' : 'Nothing like this is waiting.'}
            </Empty>
          )}
          <InboxList
            shown={shown}
            chosen={chosen}
            filter={filter}
            fateOf={fateOf}
            picked={picked}
            pick={pick}
          />
          {hasMoreWaiting.value && <p class="more soft">There are more. They come as these are decided.</p>}
          <Several
            chosen={open.filter(({ request }) => picked.has(request.id))}
            clear={() => setPicked(new Set())}
            onDecided={decided}
          />
        </>
      }
    >
      {one ? (
        <Request
          key={`${one.request.id} ${one.request.digest} ${path.length}`}
          waiting={one}
          isGone={isGone(one.request.id)}
          outcome={outcomes.get(one.request.id)}
          onDecided={outcome => decided([one], outcome)}
        />
      ) : (
        isKnown && path[0] !== undefined && <Unlisted key={path[0]} id={path[0]} />
      )}
    </Panes>
  )
}

function filterOf(query: URLSearchParams): InboxFilter {
  const [agent, tool] = [query.get('agent'), query.get('tool')]
  return { ...(agent && { agent }), ...(tool && { tool }) }
}

/** A request that the address names, and that the list does not have. */
function Unlisted({ id }: { id: string }) {
  return (
    <>
      <Heading>A request that is not listed</Heading>
      <Elsewhere id={id} run={id.split('/')[0] ?? ''} />
    </>
  )
}

function Absent() {
  const hasPlugin = config.value.plugins.includes('approvals')
  return (
    <Notice>
      {hasPlugin
        ? 'Approvals are shown to users who are logged in. Log in, or add an `authenticate` middleware.'
        : 'This service has no approvals. To add them, add the plugin `approvals()` of `servable/approvals`.'}
    </Notice>
  )
}
