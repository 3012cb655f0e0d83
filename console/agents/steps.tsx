import type { Target } from '../catalog.ts'
import { useLoaded } from '../loading.ts'
import { Section } from '../parts/page.tsx'
import { Status } from '../parts/status.tsx'
import { linkTo } from '../route.ts'
import { client, config } from '../service.ts'
import { duration, visible } from '../text.ts'

/** The steps of a workflow, each with its outcome and time in the user's last run of it. */
export function Steps({ target: { kind, name, steps = [] } }: { target: Target }) {
  const { notStored, listsRuns } = config.value
  const isListed = notStored === null && listsRuns && steps.length > 0
  const { value: last } = useLoaded(`${kind} ${name} ${isListed}`, async signal => {
    if (!isListed) return undefined
    const { runs } = await client.runs.list({ kind, name, limit: 1 }, { signal })
    return runs[0] && client.runs.get(runs[0].id, { signal })
  })
  if (steps.length === 0) return null
  return (
    <Section
      id="h-steps"
      title="Steps"
      aside={
        last && (
          <a class="push" href={linkTo('runs', [last.id])}>
            Last run
          </a>
        )
      }
    >
      <ol class="steps">
        {steps.map(step => {
          // A step that ran more than once shows its last time.
          const done = last?.result?.steps?.findLast(each => each.name === step)
          return (
            <li key={step}>
              {visible(step)}{' '}
              {done && (
                <span class="small">
                  <Status status={done.status} /> <span class="soft">{duration(done.durationMs)}</span>
                </span>
              )}
            </li>
          )
        })}
      </ol>
    </Section>
  )
}
