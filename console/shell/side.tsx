import { linkTo } from '../route.ts'
import { GROUPS, type Screen, shownScreens } from '../screens.ts'
import { config } from '../service.ts'
import { LogInOrOut } from './log-in.tsx'

/** The column of screens. On a phone it is a sheet that "More" opens. */
export function Side({ screen, isOpen }: { screen: string; isOpen: boolean }) {
  const screens = shownScreens()
  return (
    <nav class={isOpen ? 'side open' : 'side'} id="side" aria-label="Screens">
      {GROUPS.map(group => {
        const own = screens.filter(each => each.group === group)
        if (own.length === 0) return null
        return (
          <>
            {group !== '' && <p>{group}</p>}
            {own.map(each => (
              <Link key={each.id} of={each} screen={screen} />
            ))}
          </>
        )
      })}
      {config.value.isLocal && (
        <p class="note">Local development: everyone on this machine is an administrator</p>
      )}
      <LogInOrOut />
    </nav>
  )
}

/** The screens that a phone shows below the thumb, if the service has them. */
const THUMB: readonly string[] = ['home', 'runs', 'approvals', 'chat']

/** The row of screens on a phone. */
export function Tabs({ screen, isOpen, toggle }: { screen: string; isOpen: boolean; toggle: () => void }) {
  const screens = shownScreens().filter(({ id }) => THUMB.includes(id))
  const sorted = screens.toSorted((a, b) => THUMB.indexOf(a.id) - THUMB.indexOf(b.id))
  return (
    <nav class="tabs" aria-label="Main">
      {sorted.map(each => (
        <Link key={each.id} of={each} screen={screen} />
      ))}
      <button type="button" aria-expanded={isOpen} aria-controls="side" onClick={toggle}>
        More
      </button>
    </nav>
  )
}

function Link({ of: { id, title, Badge }, screen }: { of: Screen; screen: string }) {
  return (
    <a href={linkTo(id)} aria-current={id === screen ? 'page' : undefined}>
      {title}
      {Badge && <Badge />}
    </a>
  )
}
