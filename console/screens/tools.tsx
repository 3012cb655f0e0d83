import { Admin } from '../admin/admin.tsx'
import { CallTool } from '../admin/call-tool.tsx'
import { ofAdmin } from '../admin/token.ts'
import { useLoaded } from '../loading.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Failure } from '../parts/notice.tsx'
import { client, config } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT = 'The service lists no tools. Give it `toolkits`, a `toolLibrary` or tool servers.'

/** The tools of the service, with their schemas. An administrator calls them, and adds tool servers. */
export function Tools() {
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
      {isLoading && <p aria-busy="true">Loading…</p>}
      {tools?.length === 0 && <p>{ABSENT}</p>}
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
              {ofAdmin.isOpen('admin') && config.value.plugins.includes('admin') && <CallTool tool={tool} />}
            </li>
          )
        })}
      </ul>
      {config.value.plugins.includes('admin') && <Admin />}
    </>
  )
}
