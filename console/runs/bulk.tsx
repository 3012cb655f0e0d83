import { useEffect, useRef, useState } from 'preact/hooks'
import type { RunSummary } from '../../src/client/index.ts'
import { lookAgain } from '../live.ts'
import { Menu } from '../parts/menu.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { clientOf, codeOf, config, may, providerKeys } from '../service.ts'
import { number } from '../text.ts'
import { askedOf, type Filters } from './filters.ts'
import { MOST, newestRuns } from './newest.ts'
import { type Listed, outliers } from './numbers.ts'

/** Requests that are sent at a time. */
const AT_ONCE = 4

interface Act {
  readonly title: string
  readonly done: string
  /** Whether it makes sense for a run. */
  readonly isFor: (run: Listed) => boolean
  readonly work: (run: Listed) => Promise<unknown>
}

const isAtWork = ({ status }: RunSummary) => status === 'running' || status === 'queued'

const ACTS: Readonly<Record<string, Act>> = {
  cancel: {
    title: 'Stop',
    done: 'stopped',
    isFor: run =>
      (isAtWork(run) || run.waiting === true) && run.taskId === undefined && may('cancel', run.owner),
    work: ({ id, owner }) => clientOf(owner).runs.cancel(id),
  },
  retry: {
    title: 'Run again',
    done: 'run again',
    isFor: run =>
      !isAtWork(run) && run.taskId === undefined && config.value.keepsInput && may('retry', run.owner),
    work: ({ id, owner }) => clientOf(owner).runs.retry(id, { keys: providerKeys.value }),
  },
  delete: {
    title: 'Delete',
    done: 'deleted',
    isFor: run => !isAtWork(run) && run.taskId === undefined && may('delete', run.owner),
    work: ({ id, owner }) => clientOf(owner).runs.delete(id),
  },
}

/** Acts on all runs that match the filters. It counts them first. */
export function Bulk({ filters, count }: { filters: Filters; count: number }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [chosen, choose] = useState<Act>()
  const open = (act: Act) => {
    choose(act)
    dialog.current?.showModal()
  }
  if (count === 0) return null
  return (
    <>
      <Menu title="Change all">
        {Object.entries(ACTS).map(([id, act]) => (
          <button key={id} type="button" onClick={() => open(act)}>
            {act.title}…
          </button>
        ))}
      </Menu>
      <dialog ref={dialog} aria-label="Change all these runs" onClose={() => choose(undefined)}>
        {chosen && <Doing act={chosen} filters={filters} close={() => dialog.current?.close()} />}
      </dialog>
    </>
  )
}

type Step =
  | { readonly is: 'counting' }
  | { readonly is: 'asking'; readonly runs: readonly Listed[]; readonly isCut: boolean }
  | {
      readonly is: 'working' | 'done'
      readonly of: number
      readonly done: number
      readonly failed: readonly string[]
    }

function Doing({ act, filters, close }: { act: Act; filters: Filters; close: () => void }) {
  const [step, setStep] = useState<Step>({ is: 'counting' })
  const [error, setError] = useState<unknown>()
  const stopped = useRef(false)
  useEffect(() => void matching(filters, act).then(setStep, setError), [])
  const leave = () => {
    stopped.current = true
    close()
  }
  const start = async (runs: readonly Listed[]) => {
    const failed: string[] = []
    let done = 0
    const left = [...runs]
    const tell = (is: 'working' | 'done') => setStep({ is, of: runs.length, done, failed })
    tell('working')
    const worker = async () => {
      for (let run = left.shift(); run !== undefined && !stopped.current; run = left.shift()) {
        await act.work(run).then(
          () => done++,
          error => failed.push(codeOf(error) ?? 'no_connection'),
        )
        tell('working')
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    tell('done')
    void lookAgain().catch(() => {})
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        if (step.is === 'asking') void start(step.runs)
      }}
    >
      <h2>{act.title}</h2>
      {error !== undefined && <Failure error={error} />}
      {error === undefined && <Told act={act} step={step} />}
      <p class="actions">
        {step.is === 'asking' && step.runs.length > 0 && (
          <button type="submit" class="main">
            {`${act.title} ${number(step.runs.length)}`}
          </button>
        )}
        <button type="button" onClick={leave}>
          {step.is === 'done' ? 'Close' : step.is === 'working' ? 'Stop here' : 'Cancel'}
        </button>
      </p>
    </form>
  )
}

/** What is about to happen, or has happened. */
function Told({ act: { title, done }, step }: { act: Act; step: Step }) {
  if (step.is === 'counting') return <p aria-busy="true">Counting…</p>
  if (step.is === 'asking') {
    const all = `${title} ${number(step.runs.length)} runs?`
    return (
      <p>
        {step.runs.length === 0 ? 'This is possible with none of these runs.' : all}
        {title === 'Delete' && step.runs.length > 0 && ' They and their files are deleted for good.'}
        {step.isCut && ` These are only among the newest ${number(MOST)}: do it again for the others.`}
      </p>
    )
  }
  const refused = step.failed.length > 0 ? `, ${number(step.failed.length)} refused` : ''
  return (
    <>
      <p role="status">{`${number(step.done)} of ${number(step.of)} ${done}${refused}.`}</p>
      {step.is === 'done' && refused !== '' && (
        <Notice kind="error">{[...new Set(step.failed)].join(', ')}</Notice>
      )}
    </>
  )
}

/** The runs that match the filters and allow the act. */
async function matching(filters: Filters, act: Act): Promise<Step> {
  const { runs, isCut } = await newestRuns(askedOf(filters))
  const chosen = filters.quick ? outliers(runs, filters.quick) : runs
  return { is: 'asking', runs: chosen.filter(act.isFor), isCut }
}
