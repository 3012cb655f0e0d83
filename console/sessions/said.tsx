import type { RunSummary, SessionSummary } from '../../src/client/index.ts'
import { useLoaded } from '../loading.ts'
import { Ago } from '../parts/ago.tsx'
import { Heads } from '../parts/heads.tsx'
import { Failure } from '../parts/notice.tsx'
import { linkTo } from '../route.ts'
import { headlineOf } from '../runs/numbers.ts'
import { clientOf, config } from '../service.ts'
import { visible } from '../text.ts'

/** Most runs that are looked at. */
const LOOKED = 100

/** The conversations in which something was said, by the runs that have these words. */
export function Said({
  search,
  owner,
  query,
  found,
}: {
  search: string
  owner: string
  /** The query of the links. */
  query: Readonly<Record<string, string>>
  /** The conversations that have the words in their titles. */
  found: readonly SessionSummary[]
}) {
  const { notStored, listsRuns } = config.value
  const isSearched = notStored === null && listsRuns
  const { value, error } = useLoaded(search, async signal => {
    if (!isSearched) return []
    const { runs } = await clientOf(owner).runs.list({ search, limit: LOOKED }, { signal })
    return newestOfEach(runs)
  })
  if (error !== undefined) return <Failure error={error} />
  const isFound = ({ kind, name, sessionId }: RunSummary) =>
    found.some(each => each.kind === kind && each.name === name && each.id === sessionId)
  const others = value?.filter(run => !isFound(run)) ?? []
  if (others.length === 0) return null
  return (
    <table class="list talks said-in">
      <Heads of={[['Said in'], ['Agent', 'name'], ['When', 'number last']]} />
      <tbody>
        {others.map(run => (
          <tr key={run.id}>
            <td>
              <a href={linkTo('sessions', [run.kind, run.name, run.sessionId ?? ''], query)}>
                {visible(headlineOf(run))}
              </a>
            </td>
            <td class="name soft">{visible(run.name)}</td>
            <td class="number last soft">
              <Ago at={run.createdAt} isBare />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The newest run of each session. */
function newestOfEach(runs: readonly RunSummary[]): readonly RunSummary[] {
  const all = new Map<string, RunSummary>()
  for (const run of runs) {
    const of = JSON.stringify([run.kind, run.name, run.sessionId])
    // The session of a task belongs to A2A.
    if (run.sessionId !== undefined && run.taskId === undefined && !all.has(of)) all.set(of, run)
  }
  return [...all.values()]
}
