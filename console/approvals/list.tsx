import { useEffect, useRef } from 'preact/hooks'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import { Ago, Left } from '../parts/ago.tsx'
import { goTo, linkTo } from '../route.ts'
import { KeySwitch } from '../shell/key-switch.tsx'
import { hasKeys } from '../shell/press.ts'
import { visible } from '../text.ts'
import { type Group, groupsOf, type InboxFilter, lineOf } from './inbox.ts'
import type { Outcome } from './outcome.tsx'

/** What became of a request: decided by the user, gone, or undefined while it waits. */
export type Fate = Outcome['is'] | 'gone' | undefined

/** How a fate looks: a shape and a word. */
const LOOKS = {
  approved: ['good', 'approved'],
  denied: ['off', 'denied'],
  answered: ['good', 'answered'],
  gone: ['off', 'waits no longer'],
} as const

/** The requests by agent and tool. */
export function InboxList({
  shown,
  chosen,
  filter,
  fateOf,
  picked,
  pick,
}: {
  shown: readonly WaitingRequest[]
  /** The one beside the list. */
  chosen: string | undefined
  filter: InboxFilter
  fateOf: (id: string) => Fate
  /** Those that are decided at once. */
  picked: ReadonlySet<string>
  /** Picks some, or no longer. */
  pick: (ids: readonly string[], isPicked: boolean) => void
}) {
  return (
    <div class="list">
      {groupsOf(shown).map(group => {
        const ids = group.waiting.map(({ request }) => request.id)
        const open = group.tool === undefined ? [] : ids.filter(id => fateOf(id) === undefined)
        const title = visible(titleOf(group))
        const isPicked = open.every(id => picked.has(id))
        return (
          <section key={`${group.name} ${group.tool}`} aria-label={title}>
            <h2 class="group">
              {open.length > 0 && (
                <label class="pick">
                  <input
                    type="checkbox"
                    aria-label={`Choose all: ${title}`}
                    checked={isPicked}
                    onChange={() => pick(open, !isPicked)}
                  />
                </label>
              )}
              <span class="cut">{title}</span>
              <span class="push">{ids.length}</span>
            </h2>
            <ul>
              {group.waiting.map(each => (
                <Item
                  key={each.request.id}
                  waiting={each}
                  fate={fateOf(each.request.id)}
                  isChosen={each.request.id === chosen}
                  filter={filter}
                  isPicked={picked.has(each.request.id)}
                  pick={pick}
                />
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function titleOf({ name, tool }: Group): string {
  return tool === undefined ? `${name} asks` : `${name} · ${tool}`
}

function Item({
  waiting,
  fate,
  isChosen,
  filter,
  isPicked,
  pick,
}: {
  waiting: WaitingRequest
  fate: Fate
  isChosen: boolean
  filter: InboxFilter
  isPicked: boolean
  pick: (ids: readonly string[], isPicked: boolean) => void
}) {
  const { request, run, createdAt, expiresAt } = waiting
  const [shape, word] = fate ? LOOKS[fate] : (['wait', 'waits'] as const)
  const line = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isChosen) line.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <li ref={line} class={fate ? 'item past' : 'item'}>
      {fate || request.kind !== 'approval' ? (
        <i class={`i ${shape}`} />
      ) : (
        <label class="pick">
          <input
            type="checkbox"
            aria-label={`Choose ${visible(lineOf(waiting))}`}
            checked={isPicked}
            onChange={() => pick([request.id], !isPicked)}
          />
        </label>
      )}
      <span>
        <a href={linkTo('approvals', [request.id], { ...filter })} aria-current={isChosen || undefined}>
          {visible(lineOf(waiting))}
        </a>
        <br />
        <span class="soft">
          {run.owner === undefined ? 'you' : visible(run.owner ?? 'nobody known')}
          {run.isTask && ', A2A task'}
          {fate ? `, ${word}` : <span class="unseen">, {word}</span>}
        </span>
      </span>
      <span class="soft">{!fate && expiresAt ? <Left until={expiresAt} /> : <Ago at={createdAt} />}</span>
    </li>
  )
}

/** The keys of the list, with the switch that turns them off. */
export function InboxKeys() {
  return (
    <div class="keys soft small">
      {hasKeys.value && (
        <span>
          <kbd>J</kbd> <kbd>K</kbd> move <kbd>X</kbd> choose
        </span>
      )}
      <KeySwitch />
    </div>
  )
}

/** The choice of agent and tool. */
export function InboxChoice({ of, filter }: { of: readonly WaitingRequest[]; filter: InboxFilter }) {
  const groups = groupsOf(of)
  const value = filter.agent === undefined ? '' : JSON.stringify([filter.agent, filter.tool])
  return (
    <select
      class="push"
      aria-label="Agent and tool"
      value={value}
      onChange={({ currentTarget }) => {
        const [agent, tool] = JSON.parse(currentTarget.value || '[]')
        goTo('approvals', [], { ...(agent && { agent }), ...(tool && { tool }) })
      }}
    >
      <option value="">Any agent</option>
      {[...new Set(groups.map(({ name }) => name))].flatMap(name => {
        const tools = groups.filter(each => each.name === name && each.tool !== undefined)
        return [
          <option key={name} value={JSON.stringify([name, undefined])}>
            {visible(name)}
          </option>,
          ...(tools.length < 2 ? [] : tools).map(({ tool }) => (
            <option key={`${name} ${tool}`} value={JSON.stringify([name, tool])}>
              {visible(`${name} · ${tool}`)}
            </option>
          )),
        ]
      })}
    </select>
  )
}
