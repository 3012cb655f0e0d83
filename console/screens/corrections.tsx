import { useState } from 'preact/hooks'
import type { Correction } from '../../src/agents/corrections.ts'
import { useLoaded } from '../loading.ts'
import { usePages } from '../pages.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { More } from '../parts/more.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { save } from '../parts/save.ts'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo, route } from '../route.ts'
import { client, send } from '../service.ts'
import { typedValue, visible } from '../text.ts'

const NO_LIST = 'The service lists no agents. Set `autoDiscovery` to list them.'
const ABSENT = 'This agent takes no corrections. Give it `corrections: true`.'

/** Corrections by people, by agent. */
export function Corrections() {
  const { value: agents, error, isLoading } = useLoaded('agents', signal => client.agents({ signal }))
  const [name] = route.value.path
  const takers = agents?.filter(each => each.corrections || each.name === name)
  return (
    <>
      <h1 tabIndex={-1}>Corrections</h1>
      {error !== undefined && <Failure error={error} absent={NO_LIST} />}
      {isLoading && <p aria-busy="true">Loading…</p>}
      {takers?.length === 0 && <Notice>No agent takes corrections. Give one `corrections: true`.</Notice>}
      {takers && takers.length > 0 && (
        <label>
          Agent{' '}
          <select value={name ?? ''} onChange={event => goTo('corrections', [event.currentTarget.value])}>
            <option value="" disabled>
              Choose an agent
            </option>
            {takers.map(({ name: each }) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
      {name && <OfAgent key={name} name={name} />}
    </>
  )
}

function OfAgent({ name }: { name: string }) {
  const { corrections } = client.agent(name)
  const pages = usePages<Correction>(name, async (cursor, signal) => {
    const page = await corrections.list(cursor ? { cursor } : {}, { signal })
    return { items: page.corrections, nextCursor: page.nextCursor }
  })
  const { items, error, update } = pages
  const acting = useActing()
  const download = async () => {
    const path = `/agents/${encodeURIComponent(name)}/corrections/export`
    save(await (await send(path)).blob(), 'cases.jsonl')
  }
  return (
    <>
      {error === undefined && <Add name={name} onAdded={added => update(before => [added, ...before])} />}
      <div class="top">
        <h2>Corrections of {name}</h2>
        {items.some(({ input }) => input !== undefined) && (
          <span class="actions push">
            <Action acting={acting} work={download}>
              Download cases
            </Action>
          </span>
        )}
      </div>
      {acting.error !== undefined && <Failure error={acting.error} />}
      <ul class="cards">
        {items.map(({ id, input, originalValue, correctedValue, field, reason, runId, createdAt }) => (
          <li key={id} class="card">
            <h3>{field ?? (input === undefined ? 'The whole output' : 'Case')}</h3>
            <Facts
              facts={{
                Why: reason,
                When: <Time at={createdAt} />,
                Run: runId && <a href={linkTo('runs', [runId])}>{visible(runId.slice(0, 8))}</a>,
              }}
            />
            {input !== undefined && (
              <>
                <h4>Input</h4>
                <JsonView value={input} label="what was asked" />
              </>
            )}
            <h4>Was</h4>
            <JsonView value={originalValue} label="what it was" />
            <h4>Should be</h4>
            <JsonView value={correctedValue} label="what it should be" />
          </li>
        ))}
      </ul>
      <More pages={pages} none="There are none." absent={ABSENT} />
    </>
  )
}

function Add({ name, onAdded }: { name: string; onAdded: (correction: Correction) => void }) {
  const [notice, setNotice] = useState('')
  const { isBusy, error, act } = useActing()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const fields = new FormData(form)
    const text = (field: string) => String(fields.get(field)).trim()
    const optional = (field: string) => (text(field) === '' ? {} : { [field]: text(field) })
    void act(async () => {
      const given = {
        originalValue: typedValue(text('originalValue')),
        correctedValue: typedValue(text('correctedValue')),
        ...optional('field'),
        ...optional('reason'),
        ...optional('runId'),
      }
      onAdded(await client.agent(name).corrections.add(given))
      form.reset()
      setNotice('The service keeps the correction.')
    })
  }
  return (
    <details>
      <summary>Add a correction</summary>
      <form class="card form" aria-label="Add a correction" onSubmit={submit}>
        <p class="soft">JSON stays JSON. Anything else is text.</p>
        <label>
          What it was
          <textarea name="originalValue" rows={2} required />
        </label>
        <label>
          What it should be
          <textarea name="correctedValue" rows={2} required />
        </label>
        <label>
          Field, if it is about one
          <input name="field" maxLength={500} />
        </label>
        <label>
          Why
          <input name="reason" maxLength={10_000} />
        </label>
        <label>
          Id of the run
          <input name="runId" maxLength={500} />
        </label>
        <p class="actions">
          <button type="submit" class="main" disabled={isBusy}>
            Add
          </button>
          <span role="status">{notice}</span>
        </p>
        {error !== undefined && <Failure error={error} />}
      </form>
    </details>
  )
}
