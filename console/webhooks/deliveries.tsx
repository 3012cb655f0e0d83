import { useState } from 'preact/hooks'
import type { WebhookDelivery } from '../../src/features/webhooks/plugin.ts'
import { useListed } from '../admin/ask.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Facts } from '../parts/facts.tsx'
import { Folded } from '../parts/folded.tsx'
import { More } from '../parts/more.tsx'
import { Failure } from '../parts/notice.tsx'
import { Section } from '../parts/page.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../route.ts'
import type { ask } from '../service.ts'
import { visible } from '../text.ts'

/** Sends a request and gives the answer, with the rights of a caller or of an administrator. */
export type Asker = typeof ask

/** Which deliveries are shown. */
const STATES = { '': 'All', failed: 'Failed', pending: 'Waiting', delivered: 'Delivered' } as const

/** The deliveries of a webhook, newest first. `base` is its path. */
export function Deliveries({ base, send }: { base: string; send: Asker }) {
  const acting = useActing()
  const [status, setStatus] = useState<keyof typeof STATES>('')
  const pages = useListed<WebhookDelivery>('deliveries', `${base}/deliveries`, send, { status })
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
      <fieldset class="seg" aria-label="Which deliveries">
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
      <More pages={pages} none="There are no deliveries like this in the last days." absent="" />
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
