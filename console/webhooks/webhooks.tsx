import { useState } from 'preact/hooks'
import type { AnyWebhook, WebhookDelivery } from '../../src/features/webhooks/plugin.ts'
import { useListed } from '../admin/ask.ts'
import type { Pages } from '../pages.ts'
import { Facts } from '../parts/facts.tsx'
import { type Act, type Ask, Managed, type Managing } from '../parts/managed.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo, route } from '../route.ts'
import { visible } from '../text.ts'
import { type Asker, Deliveries } from './deliveries.tsx'
import { EVENTS, nameOf } from './events.ts'

/** A webhook of the caller, or any if an administrator asks. */
export type Listed = Omit<AnyWebhook, 'owner'> & Partial<Pick<AnyWebhook, 'owner'>>

/** Webhooks with their deliveries: those of the caller, or all. */
export function Webhooks({
  base,
  send,
  actsOf,
  make,
  above,
  ...of
}: Pick<Managing<Listed>, 'title' | 'what' | 'above' | 'none' | 'absent'> & {
  /** The path of their routes. */
  base: string
  send: Asker
  actsOf?: (webhook: Listed, ask: Ask, pages: Pages<Listed>) => readonly Act[]
  /** The dialog for a new one. Administrators add none. */
  make?: (ask: Ask, pages: Pages<Listed>) => Act
}) {
  const pages = useListed<Listed>('webhooks', base, send)
  const [turn, setTurn] = useState(0)
  const test = ({ id }: Listed): Act => ({
    title: 'Send a test',
    work: async () => {
      await send<WebhookDelivery>(`${base}/${encodeURIComponent(id)}/test`, { method: 'POST' })
      setTurn(before => before + 1)
    },
  })
  const views = (
    <>
      <Views />
      {above}
    </>
  )
  if (route.value.query.get('view') === 'deliveries') {
    const names = Object.fromEntries(pages.items.map(each => [each.id, titleOf(each)]))
    return (
      <div class="page">
        <h1 tabIndex={-1}>{of.title}</h1>
        {views}
        <Deliveries base={base} send={send} names={names} />
      </div>
    )
  }
  return (
    <Managed
      of={{
        ...of,
        pages,
        heads: ['Name', 'Is told when', 'Created'],
        above: views,
        row: ({ events, ...webhook }) => ({
          ...{ id: webhook.id, name: titleOf(webhook) },
          ...{ status: webhook.enabled ? 'on' : 'off', at: webhook.createdAt },
          about: events.length === ALL ? 'a run ends or waits' : events.map(nameOf).join(', '),
        }),
        acts: (webhook, ask) => [test(webhook), ...(actsOf?.(webhook, ask, pages) ?? [])],
        ...(make && { make: ask => make(ask, pages) }),
        detail: webhook => (
          <>
            <Details of={webhook} />
            <Deliveries key={webhook.id} base={base} send={send} only={webhook.id} turn={turn} />
          </>
        ),
      }}
    />
  )
}

/** The two lists of the screen. */
function Views() {
  const { screen, query } = route.value
  const isDeliveries = query.get('view') === 'deliveries'
  return (
    <nav class="seg views" aria-label="Lists">
      <a href={linkTo(screen)} aria-current={!isDeliveries || undefined}>
        Webhooks
      </a>
      <a href={linkTo(screen, [], { view: 'deliveries' })} aria-current={isDeliveries || undefined}>
        All deliveries
      </a>
    </nav>
  )
}

/** One of the service has a name. One of a user has none but its address. */
function titleOf({ id, url, owner }: Pick<Listed, 'id' | 'url' | 'owner'>): string {
  return owner === null ? id : url.replace(/^https:\/\//, '')
}

const ALL = Object.keys(EVENTS).length

function Details({ of: { id, url, events, agents, owner, contents, createdAt } }: { of: Listed }) {
  return (
    <Facts
      facts={{
        Address: visible(url),
        Id: <code>{id}</code>,
        Owner: owner === undefined ? undefined : owner === null ? 'this service' : visible(owner),
        'Is told when': events.map(nameOf).join(', '),
        Agents: agents ? visible(agents.join(', ')) : 'all',
        'Is sent': contents ? 'what the run answered, too' : 'that it happened',
        Created: createdAt && <Time at={createdAt} />,
      }}
    />
  )
}
