import { Admin } from '../admin/admin.tsx'
import { useLoaded } from '../loading.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Failure } from '../parts/notice.tsx'
import { client, config } from '../service.ts'

const ABSENT = 'The service lists no tools. Give it `toolkits`, a `toolLibrary` or tool servers.'

/** The tools of the service, with their schemas. An administrator adds tool servers. */
export function Tools() {
  const { value: tools, error, isLoading } = useLoaded('tools', signal => client.tools.list({ signal }))
  return (
    <>
      <h1 tabIndex={-1}>Tools</h1>
      {error !== undefined && <Failure error={error} absent={ABSENT} />}
      {isLoading && <p aria-busy="true">Loading…</p>}
      {tools?.length === 0 && <p>{ABSENT}</p>}
      <ul class="cards">
        {tools?.map(({ name, description, ...more }) => (
          <li key={name} class="card">
            <h2>{name}</h2>
            <p>{description}</p>
            <details>
              <summary>Details</summary>
              <JsonView value={more} label={`details of ${name}`} />
            </details>
          </li>
        ))}
      </ul>
      {config.value.plugins.includes('admin') && <Admin />}
    </>
  )
}
