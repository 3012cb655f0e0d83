import { useState } from 'preact/hooks'
import type { AnyWebhook, WebhookDelivery } from '../../src/features/webhooks/plugin.ts'
import { useLoaded } from '../loading.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { number, visible } from '../text.ts'
import { askAdmin } from './ask.ts'
import { ForgetToken } from './token-form.tsx'

/** Webhook subscriptions and their deliveries. Nothing is shown if the service has no webhooks. */
export function Webhooks() {
  const { value, error } = useLoaded('', signal =>
    askAdmin<{ readonly webhooks: readonly AnyWebhook[] }>('/webhooks', { signal }),
  )
  return (
    <section aria-label="Webhooks">
      <ForgetToken />
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
      <h2>{id}</h2>
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

/** Which deliveries are shown. */
const CHOICES = ['all', 'failed', 'pending', 'delivered'] as const

function Deliveries({ id }: { id: string }) {
  const acting = useActing()
  const [choice, choose] = useState<(typeof CHOICES)[number]>('all')
  const base = `/webhooks/${encodeURIComponent(id)}`
  const { value, error, reload } = useLoaded(id, signal =>
    askAdmin<{ readonly deliveries: readonly WebhookDelivery[] }>(`${base}/deliveries`, { signal }),
  )
  const shown = value?.deliveries.filter(({ status }) => choice === 'all' || status === choice)
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
      {value !== undefined && value.deliveries.length > 0 && (
        <fieldset class="seg" aria-label="Which deliveries">
          {CHOICES.map(each => (
            <button key={each} type="button" aria-pressed={each === choice} onClick={() => choose(each)}>
              {each.charAt(0).toUpperCase() + each.slice(1)}{' '}
              {number(value.deliveries.filter(({ status }) => each === 'all' || status === each).length)}
            </button>
          ))}
        </fieldset>
      )}
      <ul>
        {shown?.map(({ id: delivery, type, status, tries, lastTryAt, nextTryAt, error }) => (
          <li key={delivery}>
            <Facts
              facts={{
                Event: visible(type),
                Status: <Status status={status} />,
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
