import { useState } from 'preact/hooks'
import type { AnyWebhook, WebhookDelivery } from '../../src/features/webhooks/plugin.ts'
import { useLoaded } from '../loading.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { codeOf } from '../service.ts'
import { visible } from '../text.ts'
import { askAdmin } from './ask.ts'

/** Webhook subscriptions and their deliveries. Nothing is shown if the service has no webhooks. */
export function Webhooks() {
  const { value, error } = useLoaded('', signal =>
    askAdmin<{ readonly webhooks: readonly AnyWebhook[] }>('/webhooks', { signal }),
  )
  if (value === undefined && (error === undefined || codeOf(error) === 'not_found')) return null
  return (
    <section aria-label="Webhooks">
      <h2>Webhooks</h2>
      {error !== undefined && <Failure error={error} />}
      {value?.webhooks.length === 0 && <p>Nobody has subscribed.</p>}
      <ul class="cards">
        {value?.webhooks.map(webhook => (
          <li key={webhook.id} class="card">
            <WebhookCard webhook={webhook} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function WebhookCard({ webhook: { id, url, events, agents, owner, enabled } }: { webhook: AnyWebhook }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <h3>{id}</h3>
      <Facts
        facts={{
          Address: visible(url),
          Owner: owner === null ? 'the deployment' : visible(owner),
          Events: events.join(', '),
          Agents: agents && visible(agents.join(', ')),
          Status: enabled ? undefined : 'disabled',
        }}
      />
      <details onToggle={event => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
        <summary>Deliveries</summary>
        {isOpen && <Deliveries id={id} />}
      </details>
    </>
  )
}

const SIGNS = { delivered: '✓', pending: '●', failed: '✗' } as const
const STATUSES = { delivered: 'connected', pending: 'connecting', failed: 'error' } as const

function Deliveries({ id }: { id: string }) {
  const acting = useActing()
  const base = `/webhooks/${encodeURIComponent(id)}`
  const { value, error, reload } = useLoaded(id, signal =>
    askAdmin<{ readonly deliveries: readonly WebhookDelivery[] }>(`${base}/deliveries`, { signal }),
  )
  const post = (path: string) => async () => {
    await askAdmin(base + path, { method: 'POST' })
    reload()
  }
  return (
    <>
      <p class="actions">
        <Action acting={acting} work={post('/test')}>
          Send a test
        </Action>
        <button type="button" onClick={reload}>
          Look again
        </button>
      </p>
      {[error, acting.error].map(each => each !== undefined && <Failure error={each} />)}
      {value?.deliveries.length === 0 && <p>There are no deliveries.</p>}
      <ul>
        {value?.deliveries.map(({ id: delivery, type, status, tries, lastTryAt, nextTryAt, error }) => (
          <li key={delivery}>
            <Facts
              facts={{
                Event: visible(type),
                Status: (
                  <span class={`status ${STATUSES[status]}`}>
                    <span aria-hidden="true">{SIGNS[status]}</span> {status}
                  </span>
                ),
                Tries: tries,
                Error: error && visible(error),
                'Last try': lastTryAt && <Time at={lastTryAt} />,
                'Next try': nextTryAt && <Time at={nextTryAt} />,
              }}
            />
            {status !== 'pending' && (
              <p class="actions">
                <Action acting={acting} work={post(`/deliveries/${encodeURIComponent(delivery)}/replay`)}>
                  Send again
                </Action>
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
