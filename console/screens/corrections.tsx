import { useState } from 'preact/hooks'
import type { Correction } from '../../src/agents/corrections.ts'
import { useLoaded } from '../loading.ts'
import { usePages } from '../pages.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Field, Form } from '../parts/form.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { More } from '../parts/more.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { save } from '../parts/save.ts'
import { Time } from '../parts/time.tsx'
import { textIn } from '../parts/typed.ts'
import { goTo, linkTo, route } from '../route.ts'
import { client, send } from '../service.ts'
import { typedValue, visible } from '../text.ts'

const NO_LIST = 'This service lists no agents. To list them, set `autoDiscovery`.'
const ABSENT = 'This agent takes no corrections. To let it take them, give it `corrections: true`.'

/** Corrections by people, by agent. */
export function Corrections() {
  const { value: agents, error, isLoading } = useLoaded('agents', signal => client.agents({ signal }))
  const [name] = route.value.path
  const takers = agents?.filter(each => each.corrections || each.name === name)
  return (
    <>
      <h1 tabIndex={-1}>Corrections</h1>
      {error !== undefined && <Failure error={error} absent={NO_LIST} />}
      {isLoading && <Loading />}
      {takers?.length === 0 && (
        <Notice>No agent takes corrections. To let one take them, give it `corrections: true`.</Notice>
      )}
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
                <JsonView value={input} label="input" />
              </>
            )}
            <h4>{input === undefined ? 'Wrong output' : 'Output'}</h4>
            <JsonView value={originalValue} label="output" />
            <h4>{input === undefined ? 'Right output' : 'Expected'}</h4>
            <JsonView value={correctedValue} label="expected output" />
          </li>
        ))}
      </ul>
      <More pages={pages} none="Nobody has corrected this agent yet." absent={ABSENT} />
    </>
  )
}

function Add({ name, onAdded }: { name: string; onAdded: (correction: Correction) => void }) {
  const [notice, setNotice] = useState('')
  const add = async (fields: FormData) => {
    const more = ['field', 'reason', 'runId'].flatMap(each => {
      const text = textIn(fields, each)
      return text === '' ? [] : [[each, text]]
    })
    onAdded(
      await client.agent(name).corrections.add({
        originalValue: typedValue(textIn(fields, 'originalValue')),
        correctedValue: typedValue(textIn(fields, 'correctedValue')),
        ...Object.fromEntries(more),
      }),
    )
    setNotice('Saved.')
  }
  return (
    <details>
      <summary>New correction…</summary>
      <Form
        label="New correction"
        submit="Save"
        isCleared
        at={{ run_not_found: 'runId' }}
        work={add}
        more={<span role="status">{notice}</span>}
      >
        <Field name="originalValue" label="Wrong output" hint="JSON, or any text">
          <textarea rows={2} required />
        </Field>
        <Field name="correctedValue" label="Right output" hint="JSON, or any text">
          <textarea rows={2} required />
        </Field>
        <Field
          name="field"
          label="Field of the output"
          hint="Leave it empty if it is about all of the output"
        >
          <input maxLength={500} />
        </Field>
        <Field name="reason" label="Why">
          <input maxLength={10_000} />
        </Field>
        <Field name="runId" label="Id of the run">
          <input maxLength={500} />
        </Field>
      </Form>
    </details>
  )
}
