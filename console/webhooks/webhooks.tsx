import type { AnyWebhook, WebhookDelivery } from '../../src/features/webhooks/plugin.ts'
import { useListed } from '../admin/ask.ts'
import type { Pages } from '../pages.ts'
import { Facts } from '../parts/facts.tsx'
import { type Act, type Ask, Managed, type Managing } from '../parts/managed.tsx'
import { Time } from '../parts/time.tsx'
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
  const test = ({ id }: Listed): Act => ({
    title: 'Send a test',
    work: () => send<WebhookDelivery>(`${base}/${encodeURIComponent(id)}/test`, { method: 'POST' }),
  })
  return (
    <Managed
      of={{
        ...of,
        pages,
        heads: ['Name', 'Is told when', 'Created'],
        row: ({ id, url, enabled, events, createdAt, owner }) => ({
          ...{ id, status: enabled ? 'on' : 'off', at: createdAt },
          // One of the service has a name. One of a user has none but its address.
          name: owner === null ? id : url.replace(/^https:\/\//, ''),
          about: events.length === ALL ? 'a run ends or waits' : events.map(nameOf).join(', '),
        }),
        acts: (webhook, ask) => [test(webhook), ...(actsOf?.(webhook, ask, pages) ?? [])],
        ...(make && { make: ask => make(ask, pages) }),
        detail: webhook => (
          <>
            <Details of={webhook} />
            <Deliveries key={webhook.id} base={`${base}/${encodeURIComponent(webhook.id)}`} send={send} />
          </>
        ),
      }}
    />
  )
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
