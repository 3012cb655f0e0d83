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
  return (
    <>
      <h1 tabIndex={-1}>Runs</h1>
      {notStored !== null && <Notice>{notStored}</Notice>}
      <Panes
        all="All runs"
        list={
          listsRuns ? (
            <RunList filters={filtersOf(query)} chosen={id} />
          ) : (
            <Notice>Runs are listed to known users only. Log in, or set `runs.listAnonymous`.</Notice>
          )
        }
      >
        {id && <Run key={id} id={id} />}
      </Panes>
    </>
  )
}
