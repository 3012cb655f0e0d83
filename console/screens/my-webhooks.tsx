import type { Webhook, WebhookWithSecret } from '../../src/features/webhooks/plugin.ts'
import { replacedBy } from '../admin/ask.ts'
import type { Pages } from '../pages.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Misfilled, Several } from '../parts/form.tsx'
import type { Act, Ask } from '../parts/managed.tsx'
import { Notice } from '../parts/notice.tsx'
import { Secret } from '../parts/secret.tsx'
import { textIn, textsIn } from '../parts/typed.ts'
import { config, ask as request, withBody } from '../service.ts'
import { EVENTS } from '../webhooks/events.ts'
import { type Listed, Webhooks } from '../webhooks/webhooks.tsx'

const ABSENT =
  'Users of this service cannot add webhooks. To let them, add the plugin `webhooks({ clients: true })` of `servable/webhooks`.'
const UNKNOWN = 'Log in to see your webhooks.'

/** The user's own webhooks: addresses that are told of the user's runs. */
export function MyWebhooks() {
  const hasThem = config.value.links.webhooks !== undefined
  if (!hasThem || config.value.identity === null)
    return (
      <div class="page">
        <h1 tabIndex={-1}>My webhooks</h1>
        <Notice>{hasThem ? UNKNOWN : ABSENT}</Notice>
      </div>
    )
  return (
    <Webhooks
      title="My webhooks"
      what="Addresses that this service tells when one of your runs ends, or waits for a person."
      base="/webhooks"
      send={request}
      actsOf={actsOf}
      make={(ask, pages) => ({
        title: 'New webhook…',
        ask: close => (
          <Dialog
            title="New webhook"
            submit="Create"
            at={AT}
            work={async fields => {
              const made = await request<WebhookWithSecret>('/webhooks', withBody('POST', filterIn(fields)))
              pages.reload()
              return () => showSecret(made, ask)
            }}
            onClose={close}
          >
            <Fields />
          </Dialog>
        ),
      })}
      none="You have no webhooks yet."
      absent={ABSENT}
    />
  )
}

/** The field that these errors are about. */
const AT = { address_refused: 'url' }

function showSecret({ secret }: WebhookWithSecret, ask: Ask): void {
  ask(close => (
    <Secret title="The secret of the webhook" what="secret" secret={secret} close={close}>
      The receiver checks with it that a request comes from this service.
    </Secret>
  ))
}

function actsOf(webhook: Listed, ask: Ask, pages: Pages<Listed>): readonly Act[] {
  const { id, enabled } = webhook
  const path = `/webhooks/${encodeURIComponent(id)}`
  const change = async (body: object) => {
    const next = await request<Webhook>(path, withBody('PATCH', body))
    pages.update(replacedBy<Listed>(next, each => each.id === id))
  }
  const rotate = async () => {
    const next = await request<WebhookWithSecret>(`${path}/secret`, withBody('POST', {}))
    return () => showSecret(next, ask)
  }
  const remove = async () => {
    await request(path, { method: 'DELETE' })
    pages.update(before => before.filter(each => each.id !== id))
  }
  return [
    { title: enabled ? 'Turn off' : 'Turn on', work: () => change({ enabled: !enabled }) },
    {
      title: 'Change…',
      ask: close => (
        <Dialog
          title="Change the webhook"
          submit="Save"
          at={AT}
          work={async fields => change({ events: null, agents: null, ...filterIn(fields) })}
          onClose={close}
        >
          <Fields of={webhook} />
        </Dialog>
      ),
    },
    {
      title: 'New secret…',
      ask: close => (
        <Dialog title="New secret for the webhook" submit="Create" work={rotate} onClose={close}>
          <p>The old secret works for another day. Give the new one to the receiver before then.</p>
        </Dialog>
      ),
    },
    {
      title: 'Delete…',
      ask: close => (
        <Dialog title="Delete the webhook?" submit="Delete" work={remove} onClose={close}>
          <p>It is no longer told of anything, and its deliveries are deleted. This cannot be undone.</p>
        </Dialog>
      ),
    },
  ]
}

/** The fields of a webhook. */
function Fields({ of }: { of?: Listed }) {
  return (
    <>
      <Field name="url" label="Address" hint="It gets a POST request with JSON">
        <input type="url" required placeholder="https://example.com/hook" defaultValue={of?.url ?? ''} />
      </Field>
      <Several
        name="events"
        label="Tell it when"
        choices={EVENTS}
        chosen={of?.events ?? Object.keys(EVENTS)}
      />
      <Field
        name="agents"
        label="Only of these agents"
        hint="Names, separated by commas; also team/NAME and workflow/NAME. Leave it empty for all."
      >
        <input spellcheck={false} defaultValue={of?.agents?.join(', ') ?? ''} />
      </Field>
      <Field name="contents" label="Also send what the run answered">
        <input type="checkbox" defaultChecked={of?.contents ?? false} />
      </Field>
    </>
  )
}

function filterIn(fields: FormData): object {
  const [events, agents] = [fields.getAll('events'), textsIn(fields, 'agents', ',')]
  if (events.length === 0) throw new Misfilled([{ path: 'events', message: 'Choose one at least.' }])
  return {
    url: textIn(fields, 'url'),
    contents: fields.has('contents'),
    ...(events.length < Object.keys(EVENTS).length && { events }),
    ...(agents.length > 0 && { agents }),
  }
}
