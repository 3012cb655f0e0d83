import { useState } from 'preact/hooks'
import type { ServerTool, ToolServer, ToolServerTransport } from '../../src/agents/tool-servers.ts'
import { askAdmin, askAsAdmin, replacedBy, useListed } from '../admin/ask.ts'
import { definitionOf } from '../admin/definition.ts'
import { ForAdmins } from '../admin/for-admins.tsx'
import { ForgetToken } from '../admin/token-form.tsx'
import { useLoaded } from '../loading.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { Field } from '../parts/form.tsx'
import { type Act, Managed } from '../parts/managed.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { BASE, codeOf, config, withBody } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT = 'This service has no tool servers. To add them, set `admin`.'
const NO_MANAGER =
  'To add tool servers here, give `admin` a `manager: new ToolServerManager()` of `servable/mcp-client`.'

/** Tool servers: an administrator adds them, turns them off and on, and deletes them. */
export function ToolServers() {
  const isThere = config.value.plugins.includes('admin')
  return (
    <ForAdmins title="Tool servers" right="admin" isThere={isThere} absent={ABSENT}>
      <Opened />
    </ForAdmins>
  )
}

function Opened() {
  const pages = useListed<ToolServer>('servers', '/admin/mcp')
  if (codeOf(pages.error) === 'tool_servers_not_configured')
    return (
      <div class="page">
        <h1 tabIndex={-1}>Tool servers</h1>
        <Notice>{NO_MANAGER}</Notice>
      </div>
    )
  const put = (next: ToolServer) => pages.update(replacedBy(next, ({ id }) => id === next.id))
  const add = async (fields: FormData) => {
    const server = await askAdmin<ToolServer>('/mcp', withBody('POST', definitionOf(fields)))
    pages.update(before => [...before, server])
  }
  const acts = ({ id, name, status, signIn }: ToolServer): readonly Act[] => {
    const post = (action: string) => async () =>
      put(await askAdmin<ToolServer>(`/mcp/${id}/${action}`, { method: 'POST' }))
    const remove = async () => {
      await askAdmin(`/mcp/${id}`, { method: 'DELETE' })
      pages.update(before => before.filter(each => each.id !== id))
    }
    const goSignIn = async () => {
      const { url } = await askAdmin<{ readonly url: string }>(`/mcp/${id}/sign-in`, { method: 'POST' })
      location.assign(url)
    }
    const isOff = status === 'disconnected'
    return [
      isOff ? { title: 'Turn on', work: post('connect') } : { title: 'Turn off', work: post('disconnect') },
      ...(isOff ? [] : [{ title: 'Connect again', work: post('connect') }]),
      ...(signIn ? [{ title: signIn === 'done' ? 'Sign in again' : 'Sign in', work: goSignIn }] : []),
      {
        title: 'Delete…',
        ask: close => (
          <Dialog title={`Delete ${visible(name)}?`} submit="Delete" work={remove} onClose={close}>
            <p>Its tools can no longer be called. To stop using it for a while, turn it off instead.</p>
          </Dialog>
        ),
      },
    ]
  }
  return (
    <Managed
      of={{
        title: 'Tool servers',
        what: 'Servers with tools (MCP) that your agents may call.',
        pages,
        heads: ['Name', 'Address', 'Connected'],
        row: ({ id, name, status, url, command, connectedAt }) => {
          return { id, name, status, about: url ?? command ?? '', at: connectedAt ?? undefined }
        },
        acts,
        detail: server => <Details of={server} />,
        make: () => ({
          title: 'New tool server…',
          ask: close => (
            <Dialog title="New tool server" submit="Add" work={add} at={AT} onClose={close}>
              <Fields />
            </Dialog>
          ),
        }),
        above: <ForgetToken />,
        none: 'There are no tool servers yet.',
        absent: ABSENT,
      }}
    />
  )
}

/** The fields that these errors are about. */
const AT = { address_refused: 'url', tool_server_exists: 'name' }

const TRANSPORTS: Readonly<Record<ToolServerTransport, string>> = {
  http: 'HTTP (http)',
  sse: 'HTTP of older servers (sse)',
  stdio: 'A program on the machine of this service (stdio)',
}

/** A field with a choice of values, by their titles. */
function Choice({
  name,
  label,
  of,
  value,
  choose,
}: {
  readonly name: string
  readonly label: string
  readonly of: Readonly<Record<string, string>>
  readonly value: string
  readonly choose: (value: string) => void
}) {
  return (
    <Field name={name} label={label}>
      <select value={value} onChange={event => choose(event.currentTarget.value)}>
        {Object.entries(of).map(([each, title]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
    </Field>
  )
}

function Fields() {
  const [transport, choose] = useState<string>('http')
  return (
    <>
      <Field name="name" label="Name" hint="Its tools are called NAME.TOOL. Letters, digits, - and _">
        <input required maxLength={64} spellcheck={false} />
      </Field>
      <Choice name="transport" label="How it is reached" of={TRANSPORTS} value={transport} choose={choose} />
      {transport === 'stdio' ? (
        <>
          <Field name="command" label="Program" hint="One that `admin.stdio.commands` allows">
            <input required spellcheck={false} />
          </Field>
          <Field name="args" label="Arguments" hint="One on each line">
            <textarea rows={2} spellcheck={false} />
          </Field>
          <Field name="env" label="Environment variables" hint="One on each line: NAME=value">
            <textarea rows={2} spellcheck={false} />
          </Field>
        </>
      ) : (
        <>
          <Field name="url" label="Address">
            <input type="url" required placeholder="https://tools.example.com/mcp" />
          </Field>
          <Field
            name="headers"
            label="Headers"
            hint="One on each line: name: value. They are not shown again."
          >
            <textarea rows={2} spellcheck={false} />
          </Field>
          <Auth />
        </>
      )}
      <Field
        name="needsApproval"
        label="Tools that a person must approve"
        hint="Their names, separated by commas. Enter * for all, or nothing for none."
      >
        <input spellcheck={false} />
      </Field>
      <Field
        name="elicitation"
        label="Its tools may ask questions"
        hint="A run then waits for a person. Otherwise a call that asks fails."
      >
        <input type="checkbox" />
      </Field>
      <Field name="autoConnect" label="On: connect now, and whenever the service starts">
        <input type="checkbox" defaultChecked />
      </Field>
    </>
  )
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  '': 'The headers, or nothing',
  authorization_code: 'A token by OAuth: an administrator signs in (authorization_code)',
  client_credentials: 'A token by OAuth: the service has its own (client_credentials)',
}

/** How the service gets tokens for the server. */
function Auth() {
  const [type, choose] = useState('')
  const isOwn = type === 'client_credentials'
  return (
    <>
      <Choice
        name="auth.type"
        label="What it sends to be let in"
        of={CREDENTIALS}
        value={type}
        choose={choose}
      />
      {type !== '' && (
        <>
          <Field
            name="auth.clientId"
            label="Client id"
            hint={
              isOwn ? (
                'Of this service at the provider of the tokens'
              ) : (
                <>
                  Of this service at the provider of the tokens. Register{' '}
                  <code>{`${BASE}/admin/sign-in`}</code> there as the address to come back to, and choose
                  “Sign in” once the server is added.
                </>
              )
            }
          >
            <input required spellcheck={false} autocomplete="off" />
          </Field>
          <Field
            name="auth.clientSecret"
            label={isOwn ? 'Client secret' : 'Client secret, if it has one'}
            hint="It is not shown again."
          >
            <input type="password" required={isOwn} autocomplete="off" />
          </Field>
          <Field
            name="auth.issuer"
            label="Provider"
            hint="Its address as it names itself (issuer). Without it, the server says who the provider is, and who gets the secret."
          >
            <input type="url" placeholder="https://login.example.com" />
          </Field>
          <Field
            name="auth.scopes"
            label="Scopes"
            hint="With spaces between them. Empty: what the server asks for"
          >
            <input spellcheck={false} />
          </Field>
        </>
      )}
    </>
  )
}

function Details({ of }: { of: ToolServer }) {
  const { id, transport, url, command, status, error, warnings, needsApproval, connectedAt, createdAt } = of
  const { elicitation, signIn } = of
  const approved = needsApproval === true ? 'all tools' : (needsApproval || []).join(', ')
  const tools = useLoaded(`${id} ${status} ${connectedAt}`, async signal =>
    status === 'connected' ? askAsAdmin<readonly ServerTool[]>(`/admin/mcp/${id}/tools`, { signal }) : [],
  )
  return (
    <>
      {error && <Notice kind="error">It cannot be reached: {visible(error)}</Notice>}
      {warnings.length > 0 && <Notice>{visible(warnings.join(' '))}</Notice>}
      <Facts
        facts={{
          'Reached by': TRANSPORTS[transport],
          Address: url ?? command,
          'Needs approval': approved || undefined,
          'May ask questions': elicitation === 'ask' ? 'yes' : undefined,
          'Signed in': signIn && (signIn === 'done' ? 'yes' : 'no: choose “Sign in”'),
          Connected: connectedAt && <Time at={connectedAt} />,
          Created: <Time at={createdAt} />,
        }}
      />
      {tools.error !== undefined && <Failure error={tools.error} />}
      {tools.value !== undefined && tools.value.length > 0 && (
        <>
          <h2>Tools</h2>
          <dl class="defined">
            {tools.value.map(({ name, description }) => (
              <div key={name}>
                <dt>{visible(name)}</dt>
                <dd class="soft">{visible(description ?? '')}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  )
}
