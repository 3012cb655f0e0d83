import { lostSince } from '../connection.ts'
import { linkTo } from '../route.ts'
import type { Screen } from '../screens.ts'
import { config, TITLE } from '../service.ts'
import { openFinder } from './finder.tsx'
import { LogInOrOut } from './log-in.tsx'

/** The head: what this is, where to find things, whether the service answers, and who uses it. */
export function Head({ screen }: { screen: Screen | undefined }) {
  const { identity, isLocal, production } = config.value
  const isLost = lostSince.value !== undefined
  return (
    <header class="head">
      <a class="brand" href={linkTo('home')}>
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M8 12l5 4-5 4M16 21h8" />
        </svg>
        {TITLE}
      </a>
      {!production && <span class="tag">{isLocal ? 'local' : 'development'}</span>}
      <button type="button" class="find" onClick={openFinder}>
        <span>
          Find<span class="wide"> a run, agent or screen</span>
        </span>
        <kbd>Ctrl K</kbd>
      </button>
      <span class={`s ${isLost ? 'bad' : 'on'}`}>
        <i class={`i ${isLost ? 'bad' : 'on'}`} />
        {isLost ? 'Not connected' : 'Live'}
      </span>
      <span class="who soft cut">{[identity?.id ?? 'anonymous', ...(identity?.roles ?? [])].join(', ')}</span>
      <LogInOrOut />
      <span class="unseen">{screen?.title}</span>
    </header>
  )
}
