import { useRef } from 'preact/hooks'
import { catalog, loadCatalog, type Target } from '../catalog.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { linkTo } from '../route.ts'
import { client, config } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT = 'The service does not list what it serves (`registry: false`).'

/** What the service serves. An operator pauses it. */
export function Agents() {
  const { targets, isLoaded, error } = catalog.value
  return (
    <>
      <h1 tabIndex={-1}>Agents</h1>
      {!isLoaded && <Loading />}
      {error !== undefined && <Failure error={error} absent={ABSENT} />}
      {isLoaded && error === undefined && targets.length === 0 && <Notice>The service has no agents.</Notice>}
      <ul class="cards">
        {targets.map(target => (
          <li key={`${target.kind} ${target.name}`} class="card">
            <Card target={target} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Card({ target }: { target: Target }) {
  const { kind, name, description, model, tools = [], paused } = target
  const acting = useActing()
  const pausing = useRef<HTMLDialogElement>(null)
  const mayPause = config.value.plugins.includes('pausing') && config.value.rights.includes('pause')
  return (
    <>
      <h2>{visible(name)}</h2>
      {description && <p class="soft">{visible(description)}</p>}
      {paused && (
        <p class="s wait">
          <i class="i wait" />
          <span>
            Paused <Ago at={paused.at} />
            {paused.reason && `: ${visible(paused.reason)}`}
          </span>
        </p>
      )}
      <Facts
        facts={{
          Kind: kind,
          Model: model && visible(model),
          Tools: tools.length > 0 && visible(tools.join(', ')),
        }}
      />
      <p class="actions">
        <a class="button" href={linkTo('chat', [kind, name])}>
          Chat
        </a>
        <a class="button" href={linkTo('runs', [], { kind, name })}>
          Runs
        </a>
        {mayPause &&
          (paused ? (
            <Action acting={acting} work={() => client.resume(target).then(() => loadCatalog())}>
              Take new runs again
            </Action>
          ) : (
            <button type="button" onClick={() => pausing.current?.showModal()}>
              Pause…
            </button>
          ))}
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
      {mayPause && (
        <Dialog
          dialog={pausing}
          title={`Pause ${visible(name)}?`}
          submit="Pause"
          work={async form => {
            await client.pause(target, String(form.get('reason')).trim() || undefined)
            await loadCatalog()
          }}
        >
          <p>New runs of it are refused until you take them again. Runs at work go on.</p>
          <label>
            Reason, which callers read
            <input name="reason" maxLength={500} />
          </label>
        </Dialog>
      )}
    </>
  )
}
