import { useState } from 'preact/hooks'
import type { CallerKey, CallerKeyPage, IssuedKey } from '../../src/features/keys/routes.ts'
import { askAsAdmin } from '../admin/ask.ts'
import { ofAdmin } from '../admin/token.ts'
import { ForgetToken, TokenForm } from '../admin/token-form.tsx'
import { usePages } from '../pages.ts'
import { Action, useActing } from '../parts/action.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { More } from '../parts/more.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, route } from '../route.ts'
import { config } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT = 'The service keeps no keys. Add the plugin `callerKeys()` of `servable/keys`.'

/** Keys for callers: an administrator issues, rotates and revokes them. */
export function Keys() {
  const hasKeys = config.value.plugins.includes('keys')
  return (
    <>
      <h1 tabIndex={-1}>Keys</h1>
      {!hasKeys && <Notice>{ABSENT}</Notice>}
      {hasKeys && !ofAdmin.isOpen('keys') && <TokenForm what="Keys" label="Administration" />}
      {hasKeys && ofAdmin.isOpen('keys') && <Opened />}
    </>
  )
}

const send = <T,>(path: string, method: string, body?: object) =>
  askAsAdmin<T>(`/keys${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

function Opened() {
  const [shown, setShown] = useState<IssuedKey>()
  const [owner] = route.value.path
  const pages = usePages<CallerKey>(owner ?? '', async (cursor, signal) => {
    const query = new URLSearchParams({ ...(owner && { owner }), ...(cursor && { cursor }) })
    const { keys, nextCursor } = await askAsAdmin<CallerKeyPage>(`/keys?${query}`, { signal })
    return { items: keys, nextCursor }
  })
  const put = (key: CallerKey) =>
    pages.update(before => before.map(each => (each.id === key.id ? key : each)))
  const filter = (event: SubmitEvent) => {
    event.preventDefault()
    const typed = String(new FormData(event.currentTarget as HTMLFormElement).get('of')).trim()
    goTo('keys', typed === '' ? [] : [typed])
  }
  return (
    <>
      <ForgetToken />
      {shown && <Shown issued={shown} onDone={() => setShown(undefined)} />}
      <Issue
        onIssued={issued => {
          setShown(issued)
          pages.reload()
        }}
      />
      <h2>{owner === undefined ? 'All keys' : `Keys of ${visible(owner)}`}</h2>
      <form class="actions" aria-label="Filter" onSubmit={filter}>
        <label>
          Keys of <input name="of" defaultValue={owner ?? ''} maxLength={256} />
        </label>
        <button type="submit">Show</button>
      </form>
      <ul class="cards">
        {pages.items.map(key => (
          <li key={key.id} class="card">
            <Key
              of={key}
              onChanged={put}
              onRotated={issued => {
                setShown(issued)
                put(issued)
              }}
            />
          </li>
        ))}
      </ul>
      <More pages={pages} none="There are no keys." absent={ABSENT} />
    </>
  )
}

/** The text of a key. The page holds it until it is dismissed. */
function Shown({ issued: { key, name }, onDone }: { issued: IssuedKey; onDone: () => void }) {
  return (
    <section class="card" aria-label="The new key">
      <h2>The new key {visible(name)}</h2>
      <p>Copy it now: it is not shown again.</p>
      <pre>
        <code>{key}</code>
      </pre>
      <p class="actions">
        <CopyButton text={key} label="key" />
        <button type="button" onClick={onDone}>
          Put it away
        </button>
      </p>
    </section>
  )
}

function Issue({ onIssued }: { onIssued: (issued: IssuedKey) => void }) {
  const { isBusy, error, act } = useActing()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const fields = new FormData(form)
    const text = (field: string) => String(fields.get(field)).trim()
    void act(async () => {
      const body = {
        owner: text('owner'),
        name: text('name'),
        scopes: text('scopes')
          .split(/[\s,]+/)
          .filter(Boolean),
        ...(text('expiresAt') !== '' && { expiresAt: new Date(text('expiresAt')).toISOString() }),
        ...(text('max') !== '' && { rate: { max: Number(text('max')) } }),
      }
      onIssued(await send<IssuedKey>('', 'POST', body))
      form.reset()
    })
  }
  return (
    <form class="card form" aria-label="Issue a key" onSubmit={submit}>
      <h2>Issue a key</h2>
      <label>
        Owner: the id of the user
        <input name="owner" required maxLength={256} spellcheck={false} />
      </label>
      <label>
        Name
        <input name="name" required maxLength={100} />
      </label>
      <label>
        Scopes, with spaces in between: read, run, agent:NAME, team:NAME, workflow:NAME or all
        <input name="scopes" required defaultValue="run" spellcheck={false} />
      </label>
      <label>
        Expires, if it does
        <input name="expiresAt" type="datetime-local" />
      </label>
      <label>
        Requests a minute, if they are limited
        <input name="max" type="number" min={1} />
      </label>
      <p class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          Issue
        </button>
      </p>
      {error !== undefined && <Failure error={error} />}
    </form>
  )
}

function Key({
  of: key,
  onChanged,
  onRotated,
}: {
  of: CallerKey
  onChanged: (key: CallerKey) => void
  onRotated: (issued: IssuedKey) => void
}) {
  const { id, name, owner, scopes, rate, createdAt, expiresAt, lastUsedAt, rotatedAt, revokedAt } = key
  const acting = useActing()
  const time = (at: string | null) => at && <Time at={at} />
  return (
    <>
      <h3>{visible(name)}</h3>
      <Facts
        facts={{
          Owner: visible(owner),
          Key: <code>sk_servable_{id}_…</code>,
          Scopes: visible(scopes.join(' ')),
          Rate: rate && `${rate.max} requests in ${rate.windowMs / 1000} s`,
          Created: time(createdAt),
          Expires: time(expiresAt),
          'Last used': time(lastUsedAt),
          Rotated: time(rotatedAt),
          Revoked: time(revokedAt),
        }}
      />
      {revokedAt === null && (
        <p class="actions">
          <Action
            acting={acting}
            work={async () => onRotated(await send<IssuedKey>(`/${id}/rotate`, 'POST', {}))}
          >
            Rotate
          </Action>
          <Action acting={acting} work={async () => onChanged(await send<CallerKey>(`/${id}`, 'DELETE'))}>
            Revoke
          </Action>
        </p>
      )}
      {acting.error !== undefined && <Failure error={acting.error} />}
    </>
  )
}
