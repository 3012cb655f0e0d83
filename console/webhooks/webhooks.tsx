import type { AnyWebhook, WebhookDelivery } from '../../src/features/webhooks/plugin.ts'
import { useListed } from '../admin/ask.ts'
import { Facts } from '../parts/facts.tsx'
import { type Act, type Ask, Managed, type Managing } from '../parts/managed.tsx'
import { Time } from '../parts/time.tsx'
import { visible } from '../text.ts'
import { type Asker, Deliveries } from './deliveries.tsx'

/** A webhook of the caller, or any if an administrator asks. */
export type Listed = Omit<AnyWebhook, 'owner'> & Partial<Pick<AnyWebhook, 'owner'>>

/** Webhooks with their deliveries: those of the caller, or all. */
export function Webhooks({
  base,
  send,
  actsOf,
  ...of
}: Pick<Managing<Listed>, 'title' | 'what' | 'make' | 'above' | 'none' | 'absent'> & {
  /** The path of their routes. */
  base: string
  send: Asker
  actsOf: (webhook: Listed, ask: Ask, pages: Managing<Listed>['pages']) => readonly Act[]
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
        acts: (webhook, ask) => [test(webhook), ...actsOf(webhook, ask, pages)],
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

/** The events of a run, and what people call them. */
export const EVENTS: Readonly<Record<string, string>> = {
  'run.completed': 'a run is done',
  'run.failed': 'a run failed',
  'run.input_required': 'a run waits for a person',
  'run.cancelled': 'a run was stopped',
}

const ALL = Object.keys(EVENTS).length

function nameOf(event: string): string {
  return EVENTS[event] ?? event
}

function Details({ of: { id, url, events, agents, owner, contents, createdAt } }: { of: Listed }) {
  return (
    <Facts
      facts={{
        Address: visible(url),
        Id: <code>{id}</code>,
        Owner: owner === undefined ? undefined : owner === null ? 'this service' : visible(owner),
        'Is told when': events.map(nameOf).join(', '),
        Of: agents ? visible(agents.join(', ')) : 'all agents',
        'Is sent': contents ? 'what the run answered, too' : 'that it happened',
        Created: createdAt && <Time at={createdAt} />,
      }}
    />
  )
}
