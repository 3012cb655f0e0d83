import { factsOf } from '../cards/card.ts'
import { useLoaded } from '../loading.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { goTo, linkTo, route } from '../route.ts'
import { addressOf, ask, config } from '../service.ts'
import { visible } from '../text.ts'

/** The versions in which a card can be requested. */
const VERSIONS: Readonly<Record<string, string>> = { '': 'default', '1.0': '1.0', '0.3': '0.3' }

/** The A2A cards of the service: one for all agents, and one for each. */
export function Cards() {
  const { card } = config.value.links
  return (
    <>
      <h1 tabIndex={-1}>Agent cards</h1>
      <p class="soft">What other agents read about yours before they call them (protocol A2A).</p>
      {card === undefined ? (
        <Notice>
          This service has no agent cards. To offer its agents to other agents, set `a2a: true`.
        </Notice>
      ) : (
        <Card card={card} />
      )}
    </>
  )
}

function Card({ card }: { card: string }) {
  const { path, query } = route.value
  const version = query.get('version') ?? ''
  const [agent] = path
  const base = (config.value.links.a2a ?? '').replace(/\/$/, '')
  const at = agent ? `${base}/agents/${encodeURIComponent(agent)}/.well-known/agent-card.json` : card
  const { value, error, isLoading } = useLoaded(`${at} ${version}`, signal =>
    ask<Record<string, unknown>>(at, { signal, headers: version ? { 'a2a-version': version } : {} }),
  )
  return (
    <>
      <p class="actions">
        {agent && <a href={linkTo('cards', [], Object.fromEntries(query))}>← The card of all agents</a>}
        <label>
          Version of A2A{' '}
          <select
            value={version}
            onChange={event => goTo('cards', path, { version: event.currentTarget.value })}
          >
            {Object.entries(VERSIONS).map(([each, title]) => (
              <option key={each} value={each}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </p>
      {error !== undefined && <Failure error={error} />}
      {isLoading && !value && <p aria-busy="true">Loading…</p>}
      {value && <Shown card={value} address={addressOf(at)} isOfOne={agent !== undefined} />}
    </>
  )
}

function Shown({
  card,
  address,
  isOfOne,
}: {
  card: Record<string, unknown>
  address: string
  isOfOne: boolean
}) {
  const { name, description, version, provider, capabilities, skills, addresses, security, signatures } =
    factsOf(card)
  const { query } = route.value
  return (
    <>
      <h2>{visible(name)}</h2>
      <p>{visible(description)}</p>
      <Facts
        facts={{
          Card: (
            <>
              <code>{address}</code> <CopyButton text={address} label="address of the card" />
            </>
          ),
          Version: version,
          Provider: provider,
          Capabilities: capabilities.join(', ') || 'none',
          'Callers authenticate by': security.join(', ') || 'nothing',
          Signatures: signatures,
        }}
      />
      <h3>Addresses</h3>
      <ul>
        {addresses.map(({ url, how }) => (
          <li key={`${url} ${how}`}>
            <code>{url}</code> {how} <CopyButton text={url} label={`address for ${how}`} />
          </li>
        ))}
      </ul>
      <h3>Skills</h3>
      <ul class="cards">
        {skills.map(skill => (
          <li key={skill.id} class="card">
            <h4>{visible(skill.name)}</h4>
            <p>{visible(skill.description)}</p>
            {!isOfOne && (
              <a href={linkTo('cards', [skill.id], Object.fromEntries(query))}>The card of {skill.id}</a>
            )}
          </li>
        ))}
      </ul>
      <details>
        <summary>JSON</summary>
        <JsonView value={card} label="the card" />
      </details>
    </>
  )
}
