import type { ToolServer } from '../../src/agents/tool-servers.ts'
import type { ToolkitDetail, ToolkitSummary } from '../../src/features/admin/toolkit-catalog.ts'
import { useLoaded } from '../loading.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { visible } from '../text.ts'
import { askAdmin } from './ask.ts'
import { definitionOf, type Typed } from './definition.ts'
import { ofAdmin } from './token.ts'
import { ForgetToken, TokenForm } from './token-form.tsx'

const NO_MANAGER = 'Give `admin` a `manager: new ToolServerManager()` of `servable/mcp-client`.'

/** The screen for administrators: tool servers, and the toolkits. */
export function Admin() {
  return !ofAdmin.isOpen('admin') ? (
    <TokenForm what="Tool servers and toolkits" label="Administration" />
  ) : (
    <Opened />
  )
}

function Opened() {
  return (
    <>
      <ForgetToken />
      <Servers />
      <Toolkits />
    </>
  )
}

function Servers() {
  const { value, error, isLoading, reload } = useLoaded('', signal =>
    askAdmin<readonly ToolServer[]>('/mcp', { signal }),
  )
  return (
    <section aria-label="Tool servers">
      <h2>Tool servers</h2>
      {error !== undefined && <Failure error={error} />}
      {Object(error).code === 'tool_servers_not_configured' && <Notice>{NO_MANAGER}</Notice>}
      {isLoading && !value && <p aria-busy="true">Loading…</p>}
      {value?.length === 0 && <p>There are no tool servers.</p>}
      <ul class="cards">
        {value?.map(server => (
          <li key={server.id} class="card">
            <Server server={server} reload={reload} />
          </li>
        ))}
      </ul>
      {value && <AddServer onAdded={reload} />}
    </section>
  )
}

function Server({ server, reload }: { server: ToolServer; reload: () => void }) {
  const {
    id,
    name,
    transport,
    url,
    command,
    status,
    toolCount,
    error,
    warnings,
    needsApproval,
    connectedAt,
  } = server
  const acting = useActing()
  const post = (action: string) => async () => {
    await askAdmin(`/mcp/${id}/${action}`, { method: 'POST' })
    reload()
  }
  const remove = async () => {
    await askAdmin(`/mcp/${id}`, { method: 'DELETE' })
    reload()
  }
  return (
    <>
      <h3>{name}</h3>
      <Facts
        facts={{
          Status: <Status status={status} />,
          Error: error && visible(error),
          Transport: transport,
          Address: url ?? command,
          Tools: toolCount,
          Warnings: warnings.length > 0 ? visible(warnings.join(' ')) : undefined,
          'Needs approval':
            needsApproval === true ? 'all tools' : (needsApproval || []).join(', ') || undefined,
          Connected: connectedAt && <Time at={connectedAt} />,
        }}
      />
      <p class="actions">
        <Action acting={acting} work={post('connect')}>
          Connect
        </Action>
        <Action acting={acting} work={post('disconnect')}>
          Disconnect
        </Action>
        <Action acting={acting} work={remove}>
          Remove
        </Action>
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
    </>
  )
}

function AddServer({ onAdded }: { onAdded: () => void }) {
  const { isBusy, error, act } = useActing()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const typed = Object.fromEntries(new FormData(form)) as unknown as Typed
    const body = JSON.stringify(definitionOf({ ...typed, autoConnect: 'autoConnect' in typed }))
    void act(async () => {
      await askAdmin('/mcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      form.reset()
      onAdded()
    })
  }
  return (
    <form class="card form" aria-label="Add a tool server" onSubmit={submit}>
      <h3>Add a tool server</h3>
      <label>
        Name
        <input name="name" required maxLength={64} />
      </label>
      <label>
        Transport
        <select name="transport">
          <option value="http">http: Streamable HTTP</option>
          <option value="sse">sse: the older HTTP with SSE</option>
          <option value="stdio">stdio: a program</option>
        </select>
      </label>
      <label>
        Address, for http and sse
        <input name="url" type="url" placeholder="https://tools.example.com/mcp" />
      </label>
      <label>
        Headers, for http and sse: a line for each, as <code>name: value</code>
        <textarea name="headers" rows={2} spellcheck={false} />
      </label>
      <label>
        Program, for stdio
        <input name="command" spellcheck={false} />
      </label>
      <label>
        Arguments, for stdio: a line for each
        <textarea name="args" rows={2} spellcheck={false} />
      </label>
      <label>
        Variables, for stdio: a line for each, as <code>NAME=value</code>
        <textarea name="env" rows={2} spellcheck={false} />
      </label>
      <label>
        Tools that need an approval: names with commas in between, or <code>*</code> for all
        <input name="needsApproval" spellcheck={false} />
      </label>
      <label class="check">
        <input type="checkbox" name="autoConnect" defaultChecked /> Connect now, and whenever the service
        starts
      </label>
      <p class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          Add
        </button>
      </p>
      {error !== undefined && <Failure error={error} />}
    </form>
  )
}

function Toolkits() {
  const { value, error } = useLoaded('', signal =>
    askAdmin<readonly ToolkitSummary[]>('/toolkits', { signal }),
  )
  return (
    <section aria-label="Toolkits">
      <h2>Toolkits</h2>
      {error !== undefined && <Failure error={error} />}
      {value?.length === 0 && <p>There are no toolkits. Give the service `toolkits`.</p>}
      <ul class="cards">
        {value?.map(toolkit => (
          <li key={toolkit.id} class="card">
            <ToolkitCard toolkit={toolkit} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function ToolkitCard({
  toolkit: { id, name, description, category, requiresCredentials, configFields },
}: {
  toolkit: ToolkitSummary
}) {
  const { value } = useLoaded(id, signal =>
    askAdmin<ToolkitDetail>(`/toolkits/${encodeURIComponent(id)}`, { signal }),
  )
  return (
    <>
      <h3>{name}</h3>
      <p>{description}</p>
      <Facts
        facts={{
          Category: category,
          Credentials: requiresCredentials ? 'needed' : undefined,
          Settings: configFields.map(field => field.name).join(', ') || undefined,
          Tools: value?.tools.map(tool => tool.name).join(', '),
        }}
      />
      {value && (
        <details>
          <summary>Details</summary>
          <JsonView value={value} label={`details of ${name}`} />
        </details>
      )}
    </>
  )
}
