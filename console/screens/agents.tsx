import { AgentPage } from '../agents/agent.tsx'
import { Paused, Pausing } from '../agents/pausing.tsx'
import { catalog, type Target } from '../catalog.ts'
import { isKind } from '../chat/targets.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { linkTo, route } from '../route.ts'
import { visible } from '../text.ts'

const ABSENT = 'This service lists no agents, since `registry` is `false`.'

/** What the service serves, or the page of one. An operator pauses it. */
export function Agents() {
  const { targets, isLoaded, error } = catalog.value
  const [kind, name] = route.value.path
  const target = targets.find(each => each.kind === kind && each.name === name)
  if (target) return <AgentPage key={`${kind} ${name}`} target={target} />
  return (
    <>
      <h1 tabIndex={-1}>Agents</h1>
      {!isLoaded && <Loading />}
      {error !== undefined && <Failure error={error} absent={ABSENT} />}
      {isLoaded && error === undefined && isKind(kind) && name !== undefined && (
        <Notice>This service has no {`${kind} ${visible(name)}`}.</Notice>
      )}
      {isLoaded && error === undefined && targets.length === 0 && (
        <Notice>This service has no agents yet. To add one, make an `Agent` in its code.</Notice>
      )}
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
  const { kind, name, description, model, tools = [] } = target
  return (
    <>
      <h2>
        <a class="inline" href={linkTo('agents', [kind, name])}>
          {visible(name)}
        </a>
      </h2>
      {description && <p class="soft">{visible(description)}</p>}
      <Paused target={target} />
      <Facts
        facts={{
          Kind: kind,
          Model: model && visible(model),
          Tools: tools.length > 0 && visible(tools.join(', ')),
        }}
      />
      <Pausing target={target}>
        <a class="button" href={linkTo('chat', [kind, name])}>
          Chat
        </a>
        <a class="button" href={linkTo('runs', [], { kind, name })}>
          Runs
        </a>
      </Pausing>
    </>
  )
}
