import type { CallerKey, IssuedKey } from '../../src/features/keys/routes.ts'
import { askAsAdmin, replacedBy, useListed } from '../admin/ask.ts'
import { ForAdmins } from '../admin/for-admins.tsx'
import { ForgetToken } from '../admin/token-form.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { Field } from '../parts/form.tsx'
import { type Act, type Ask, Managed } from '../parts/managed.tsx'
import { Secret } from '../parts/secret.tsx'
import { Time } from '../parts/time.tsx'
import { textIn, wordsIn } from '../parts/typed.ts'
import { goTo, route } from '../route.ts'
import { config, withBody } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT = 'This service has no keys. To add them, add the plugin `callerKeys()` of `servable/keys`.'

/** Keys for callers: an administrator issues, changes and revokes them, and gives them new secrets. */
export function Keys() {
  return (
    <ForAdmins title="Keys" right="keys" isThere={config.value.plugins.includes('keys')} absent={ABSENT}>
      <Opened />
    </ForAdmins>
  )
}

const send = <T,>(path: string, method: string, body?: object) =>
  askAsAdmin<T>(`/keys${path}`, withBody(method, body))

function Opened() {
  const owner = route.value.query.get('owner') ?? undefined
  const pages = useListed<CallerKey>('keys', '/keys', askAsAdmin, { owner })
  const put = (key: CallerKey) => pages.update(replacedBy(key, ({ id }) => id === key.id))
  const issue = (ask: Ask) => async (fields: FormData) => {
    const issued = await send<IssuedKey>('', 'POST', { owner: textIn(fields, 'owner'), ...termsIn(fields) })
    pages.reload()
    return () => showSecret(issued, ask)
  }
  const acts = (key: CallerKey, ask: Ask): readonly Act[] =>
    key.revokedAt === null ? actsOf(key, ask, put) : []
  return (
    <Managed
      of={{
        title: 'Keys',
        what: 'Programs call this service with a key, in the name of its owner.',
        pages,
        heads: ['Name', 'Owner', 'Last used'],
        row: ({ id, name, owner, lastUsedAt, ...key }) => {
          return { id, name, status: statusOf(key), about: owner, at: lastUsedAt }
        },
        acts,
        detail: key => <Details of={key} />,
        make: ask => ({
          title: 'New key…',
          ask: close => (
            <Dialog title="New key" submit="Create" work={issue(ask)} at={AT} onClose={close}>
              <Field name="owner" label="Owner" hint="The id of the user in whose name it calls">
                <input required maxLength={256} spellcheck={false} />
              </Field>
              <Terms />
            </Dialog>
          ),
        }),
        above: (
          <>
            <OwnerFilter owner={owner} />
            <ForgetToken />
          </>
        ),
        none: owner === undefined ? 'There are no keys yet.' : `${visible(owner)} has no keys.`,
        absent: ABSENT,
      }}
    />
  )
}

/** Who may not give a role is told so. */
const AT = { forbidden: 'roles' }

function statusOf({ revokedAt, expiresAt }: Pick<CallerKey, 'revokedAt' | 'expiresAt'>): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'on'
}

function showSecret({ key, name }: IssuedKey, ask: Ask): void {
  ask(close => <Secret title={`The key ${visible(name)}`} what="key" secret={key} close={close} />)
}

function actsOf(key: CallerKey, ask: Ask, put: (key: CallerKey) => void): readonly Act[] {
  const { id, name } = key
  const change = async (fields: FormData) =>
    put(await send<CallerKey>(`/${id}`, 'PATCH', { expiresAt: null, rate: null, ...termsIn(fields, key) }))
  const rotate = async (fields: FormData) => {
    const graceMs = Math.round(Number(textIn(fields, 'graceMs')) * HOUR_MS)
    const issued = await send<IssuedKey>(`/${id}/rotate`, 'POST', { graceMs })
    const { key: _, ...rest } = issued
    put(rest)
    return () => showSecret(issued, ask)
  }
  const revoke = async () => put(await send<CallerKey>(`/${id}`, 'DELETE'))
  const shown = visible(name)
  return [
    {
      title: 'Change…',
      ask: close => (
        <Dialog title={`Change ${shown}`} submit="Save" work={change} at={AT} onClose={close}>
          <Terms of={key} />
        </Dialog>
      ),
    },
    {
      title: 'New secret…',
      ask: close => (
        <Dialog title={`New secret for ${shown}`} submit="Create" work={rotate} at={AT} onClose={close}>
          <p>The key gets a new secret. Give it to the program that uses the key.</p>
          <Field name="graceMs" label="Hours until the old secret stops working" hint="With 0 it stops now.">
            <input type="number" required min={0} max={720} step="any" defaultValue="0" />
          </Field>
        </Dialog>
      ),
    },
    {
      title: 'Revoke…',
      ask: close => (
        <Dialog title={`Revoke ${shown}?`} submit="Revoke" work={revoke} onClose={close}>
          <p>Requests with this key are refused from now on. This cannot be undone.</p>
        </Dialog>
      ),
    },
  ]
}

const HOUR_MS = 3_600_000

/** The fields of a key that can be changed. */
function Terms({ of: key }: { of?: CallerKey }) {
  return (
    <>
      <Field name="name" label="Name" hint="What the key is for">
        <input required maxLength={100} defaultValue={key?.name ?? ''} />
      </Field>
      <Field
        name="scopes"
        label="May do"
        hint={
          <>
            <code>read</code>, <code>run</code> or <code>all</code>; or only some: <code>agent:NAME</code>,{' '}
            <code>team:NAME</code>, <code>workflow:NAME</code>. Separate them with spaces.
          </>
        }
      >
        <input required spellcheck={false} defaultValue={key?.scopes.join(' ') ?? 'run'} />
      </Field>
      <Field
        name="roles"
        label="Roles, if any"
        hint="What it may do with what belongs to others. Separate them with spaces."
      >
        <input spellcheck={false} defaultValue={key?.roles.join(' ') ?? ''} />
      </Field>
      <Field name="expiresAt" label="Works until" hint="Leave it empty for a key that does not expire">
        <input type="datetime-local" defaultValue={localOf(key?.expiresAt ?? null)} />
      </Field>
      <Field name="rate" label="Most requests a minute" hint="Leave it empty for no limit">
        <input type="number" min={1} defaultValue={perMinute(key?.rate ?? null)} />
      </Field>
    </>
  )
}

function termsIn(fields: FormData, before?: CallerKey): object {
  const [expiresAt, rate] = [textIn(fields, 'expiresAt'), textIn(fields, 'rate')]
  const roles = wordsIn(fields, 'roles')
  const isSame = rate === perMinute(before?.rate ?? null)
  return {
    name: textIn(fields, 'name'),
    scopes: wordsIn(fields, 'scopes'),
    ...((before !== undefined || roles.length > 0) && { roles }),
    ...(expiresAt !== '' && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(rate !== '' && { rate: isSame ? before?.rate : { max: Number(rate) } }),
  }
}

/** A time (ISO 8601) as a field takes it, in the reader's time zone. */
function localOf(at: string | null): string {
  if (at === null) return ''
  const time = new Date(at)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function perMinute(rate: CallerKey['rate']): string {
  return rate === null ? '' : String(Math.max(1, Math.round((rate.max * 60_000) / rate.windowMs)))
}

function OwnerFilter({ owner = '' }: { owner: string | undefined }) {
  const filter = (event: SubmitEvent) => {
    event.preventDefault()
    const typed = textIn(new FormData(event.currentTarget as HTMLFormElement), 'of')
    goTo('keys', [], typed === '' ? {} : { owner: typed })
  }
  return (
    <form class="search short" onSubmit={filter}>
      <input
        key={owner}
        type="search"
        name="of"
        aria-label="Keys of one owner"
        placeholder="Keys of one owner: the id of a user"
        defaultValue={owner}
        maxLength={256}
      />
    </form>
  )
}

function Details({ of: key }: { of: CallerKey }) {
  const { id, owner, scopes, roles, rate, createdAt, expiresAt, lastUsedAt, rotatedAt, revokedAt } = key
  const time = (at: string | null) => at && <Time at={at} />
  return (
    <Facts
      facts={{
        Owner: visible(owner),
        'Begins with': <code>sk_servable_{id}</code>,
        'May do': visible(scopes.join(' ')),
        Roles: roles.length > 0 && visible(roles.join(' ')),
        'Most requests': rate && `${rate.max} in ${rate.windowMs / 1000} s`,
        Created: time(createdAt),
        'Works until': time(expiresAt),
        'Last used': time(lastUsedAt) ?? 'never',
        'New secret': time(rotatedAt),
        Revoked: time(revokedAt),
      }}
    />
  )
}
