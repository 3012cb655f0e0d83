import { useState } from 'preact/hooks'
import type { WebhookDelivery, WebhookDeliveryWithPayload } from '../../src/features/webhooks/plugin.ts'
import { useListed } from '../admin/ask.ts'
import { useLoaded } from '../loading.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Facts } from '../parts/facts.tsx'
import { Folded } from '../parts/folded.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { More } from '../parts/more.tsx'
import { Failure } from '../parts/notice.tsx'
import { Loading, Section } from '../parts/page.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../route.ts'
import type { ask } from '../service.ts'
import { visible } from '../text.ts'
import { EVENTS } from './events.ts'

/** Sends a request and gives the answer, with the rights of a caller or of an administrator. */
export type Asker = typeof ask

/** Which deliveries are shown. */
const STATES = { '': 'All', failed: 'Failed', pending: 'Waiting', delivered: 'Delivered' } as const

/** The deliveries of a webhook, newest first. `base` is its path. */
export function Deliveries({ base, send }: { base: string; send: Asker }) {
  const acting = useActing()
  const [status, setStatus] = useState<keyof typeof STATES>('')
  const [type, setType] = useState('')
  const pages = useListed<WebhookDelivery>('deliveries', `${base}/deliveries`, send, { status, type })
  const sendAgain = (id: string) => async () => {
    await send(`${base}/deliveries/${encodeURIComponent(id)}/replay`, { method: 'POST' })
    pages.reload()
  }
  return (
    <Section
      id="deliveries"
      title="Deliveries"
      aside={
        <button type="button" class="quiet" onClick={pages.reload}>
          Refresh the deliveries
        </button>
      }
    >
      <div class="top">
        <fieldset class="seg" aria-label="State">
          {Object.entries(STATES).map(([each, title]) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === status}
              onClick={() => setStatus(each as keyof typeof STATES)}
            >
              {title}
            </button>
          ))}
        </fieldset>
        <label>
          <span class="unseen">Event</span>
          <select value={type} onChange={event => setType(event.currentTarget.value)}>
            <option value="">Any event</option>
            {[...Object.keys(EVENTS), 'webhook.test'].map(each => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {acting.error !== undefined && <Failure error={acting.error} />}
      <ul class="lines">
        {pages.items.map(delivery => (
          <li key={delivery.id}>
            <Folded
              summary={
                <>
                  <Status status={delivery.status} /> <code>{visible(delivery.type)}</code>{' '}
                  <span class="soft">
                    <Ago at={delivery.createdAt} />
                  </span>
                </>
              }
            >
              {() => (
                <>
                  <Details of={delivery} />
                  <Sent path={`${base}/deliveries/${encodeURIComponent(delivery.id)}`} send={send} />
                  {delivery.status !== 'pending' && (
                    <p class="actions">
                      <Action acting={acting} work={sendAgain(delivery.id)}>
                        Send again
                      </Action>
                    </p>
                  )}
                </>
              )}
            </Folded>
          </li>
        ))}
      </ul>
      <More
        pages={pages}
        none={
          status === '' && type === ''
            ? 'Nothing was sent yet.'
            : 'No delivery fits. Choose another state or event.'
        }
        absent=""
      />
    </Section>
  )
}

function Details({ of }: { of: WebhookDelivery }) {
  const { id, runId, tries, responseStatus, error, createdAt, lastTryAt, nextTryAt } = of
  return (
    <Facts
      facts={{
        Answer: responseStatus === undefined ? 'none' : `status ${responseStatus}`,
        'Went wrong': error && visible(error),
        Tries: tries,
        Created: <Time at={createdAt} />,
        'Last try': lastTryAt && <Time at={lastTryAt} />,
        'Next try': nextTryAt && <Time at={nextTryAt} />,
        Run: runId && <a href={linkTo('runs', [runId])}>{runId.slice(0, 8)}</a>,
        Id: <code>{id}</code>,
      }}
    />
  )
}

/** What was sent, once it is asked for. */
function Sent({ path, send }: { path: string; send: Asker }) {
  const { value, error } = useLoaded(path, signal => send<WebhookDeliveryWithPayload>(path, { signal }))
  if (error !== undefined) return <Failure error={error} />
  if (value === undefined) return <Loading />
  return value.payload === undefined ? (
    <p class="soft">Your role may not see what was sent.</p>
  ) : (
    <JsonView value={value.payload} label="what was sent" />
  )
}
