import { useEffect, useState } from 'preact/hooks'
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

/** The deliveries of a webhook, or of all, newest first. */
export function Deliveries({
  base,
  send,
  only,
  names = {},
  turn = 0,
}: {
  /** The path of the webhooks. */
  base: string
  send: Asker
  /** The id of the webhook. Without it, one can be chosen. */
  only?: string
  /** The names of all webhooks by their ids. */
  names?: Readonly<Record<string, string>>
  /** Another number reads them again. */
  turn?: number
}) {
  const acting = useActing()
  const [chosen, choose] = useState('')
  const webhook = only ?? chosen
  const [status, setStatus] = useState<keyof typeof STATES>('')
  const [type, setType] = useState('')
  const pages = useListed<WebhookDelivery>('deliveries', `${base}/deliveries`, send, {
    webhook,
    status,
    type,
  })
  const pathOf = (of: WebhookDelivery) =>
    `${base}/${encodeURIComponent(of.webhook)}/deliveries/${encodeURIComponent(of.id)}`
  const sendAgain = (of: WebhookDelivery) => async () => {
    await send(`${pathOf(of)}/replay`, { method: 'POST' })
    pages.reload()
  }
  useEffect(() => {
    if (turn > 0) pages.reload()
  }, [turn])
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
        <Choice
          label="Event"
          any="Any event"
          choices={Object.fromEntries([...Object.keys(EVENTS), 'webhook.test'].map(each => [each, each]))}
          chosen={type}
          choose={setType}
        />
        {only === undefined && (
          <Choice label="Webhook" any="Any webhook" choices={names} chosen={chosen} choose={choose} />
        )}
      </div>
      {acting.error !== undefined && <Failure error={acting.error} />}
      <ul class="lines">
        {pages.items.map(delivery => (
          <li key={delivery.id}>
            <Folded
              summary={
                <>
                  <Status status={delivery.status} /> <code>{visible(delivery.type)}</code>{' '}
                  {only === undefined && <span>{visible(names[delivery.webhook] ?? delivery.webhook)}</span>}
                  <span class="soft">
                    <Ago at={delivery.createdAt} />
                  </span>
                </>
              }
            >
              {() => (
                <>
                  <Details of={delivery} isOwn={!base.startsWith('/admin')} />
                  <Sent path={pathOf(delivery)} send={send} />
                  {delivery.status !== 'pending' && (
                    <p class="actions">
                      <Action acting={acting} work={sendAgain(delivery)}>
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
          status === '' && type === '' && chosen === ''
            ? 'Nothing was sent yet.'
            : 'No delivery matches. Choose another state or event.'
        }
        absent=""
      />
    </Section>
  )
}

/** A filter by one of several. */
function Choice({
  label,
  any,
  choices,
  chosen,
  choose,
}: {
  label: string
  any: string
  /** The titles by their values. */
  choices: Readonly<Record<string, string>>
  chosen: string
  choose: (value: string) => void
}) {
  return (
    <select aria-label={label} value={chosen} onChange={event => choose(event.currentTarget.value)}>
      <option value="">{any}</option>
      {Object.entries(choices).map(([value, title]) => (
        <option key={value} value={value}>
          {visible(title)}
        </option>
      ))}
    </select>
  )
}

function Details({ of, isOwn }: { of: WebhookDelivery; isOwn: boolean }) {
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
        // A run of somebody else is found with its owner alone.
        Run:
          runId && (isOwn ? <a href={linkTo('runs', [runId])}>{runId.slice(0, 8)}</a> : <code>{runId}</code>),
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
