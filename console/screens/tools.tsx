import type { ToolkitDetail, ToolkitSummary } from '../../src/features/admin/toolkit-catalog.ts'
import { askAdmin } from '../admin/ask.ts'
import { CallTool } from '../admin/call-tool.tsx'
import { ofAdmin } from '../admin/token.ts'
import { ForgetToken, TokenForm } from '../admin/token-form.tsx'
import { useLoaded } from '../loading.ts'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { client, config } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT =
  'This service lists no tools. To list them, give it `toolkits` or a `toolLibrary`, or add tool servers.'

/** The tools of the service, with their schemas. An administrator calls them, and sees the toolkits. */
export function Tools() {
  const hasAdmin = config.value.plugins.includes('admin')
  const isOpen = hasAdmin && ofAdmin.isOpen('admin')
  const {
    value: tools,
    error,
    isLoading,
  } = useLoaded('tools', async signal =>
    config.value.links.tools === undefined ? [] : client.tools.list({ signal }),
  )
  return (
    <>
      <h1 tabIndex={-1}>Tools</h1>
      {error !== undefined && <Failure error={error} absent={ABSENT} />}
      {isLoading && <Loading />}
      {tools?.length === 0 && <Notice>{ABSENT}</Notice>}
      <ul class="cards">
        {tools?.map(tool => {
          const { name, description, ...more } = tool
          return (
            <li key={name} class="card">
              <h2>{visible(name)}</h2>
              <p>{description && visible(description)}</p>
              <details>
                <summary>Details</summary>
                <JsonView value={more} label={`details of ${name}`} />
              </details>
              {isOpen && <CallTool tool={tool} />}
            </li>
          )
        })}
      </ul>
      {hasAdmin && !isOpen && <TokenForm />}
      {isOpen && (
        <>
          <Toolkits />
          <ForgetToken />
        </>
      )}
    </>
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
      {value?.length === 0 && <p>There are no toolkits. To add some, give the service `toolkits`.</p>}
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
