import type { Kind } from '../../src/agents/contract.ts'
import type { Target } from '../catalog.ts'
import { goTo, linkTo } from '../route.ts'
import { visible } from '../text.ts'

const TITLES: Readonly<Record<Kind, string>> = { agent: 'Agents', team: 'Teams', workflow: 'Workflows' }
const KINDS = Object.keys(TITLES) as readonly Kind[]

/** Whether an address names a kind. */
export function isKind(text: string | undefined): text is Kind {
  return KINDS.includes(text as Kind)
}

interface Props {
  readonly targets: readonly Target[]
  readonly kind: Kind
  readonly name: string
}

/** The list of targets: links, or a select on a phone. */
export function Targets({ targets, kind, name }: Props) {
  const groups = KINDS.map(each => [each, targets.filter(({ kind }) => kind === each)] as const)
  const shown = groups.filter(([, all]) => all.length > 0)
  const chosen = targets.findIndex(each => each.kind === kind && each.name === name)
  const choose = (index: string) => {
    const target = targets[Number(index)]
    if (target) goTo('chat', [target.kind, target.name])
  }
  return (
    <>
      <label class="narrow-choice">
        Chat with
        <select value={chosen} onChange={event => choose(event.currentTarget.value)}>
          {shown.map(([each, all]) => (
            <optgroup key={each} label={TITLES[each]}>
              {all.map(target => (
                <option key={target.name} value={targets.indexOf(target)}>
                  {visible(target.name)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <nav class="targets" aria-label="Chat with">
        {shown.map(([each, all]) => (
          <section key={each}>
            <h2>{TITLES[each]}</h2>
            <ul>
              {all.map(target => (
                <li key={target.name}>
                  <a
                    href={linkTo('chat', [each, target.name])}
                    aria-current={each === kind && target.name === name ? 'page' : undefined}
                  >
                    {visible(target.name)}
                    <span class="soft small">
                      {target.paused ? 'Paused' : visible(target.description ?? '')}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  )
}
