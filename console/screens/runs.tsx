import { Notice } from '../parts/notice.tsx'
import { Panes } from '../parts/panes.tsx'
import { route } from '../route.ts'
import { filtersOf } from '../runs/filters.ts'
import { RunList } from '../runs/list.tsx'
import { Run } from '../runs/run.tsx'
import { config } from '../service.ts'

/** The stored runs of the user, and the details of one. */
export function Runs() {
  const { path, query } = route.value
  const { notStored, listsRuns } = config.value
  const [id] = path
  const isListed = notStored === null && listsRuns
  return (
    <Panes
      all="Runs"
      list={isListed ? <RunList filters={filtersOf(query)} chosen={id} /> : <Unlisted why={notStored} />}
    >
      {id && <Run key={id} id={id} />}
    </Panes>
  )
}

function Unlisted({ why }: { why: string | null }) {
  return (
    <>
      <div class="bar">
        <h1 tabIndex={-1}>Runs</h1>
      </div>
      <Notice>
        {why ?? 'Runs are shown to users who are logged in. Log in, or set `runs.listAnonymous`.'}
      </Notice>
    </>
  )
}
