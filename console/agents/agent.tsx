import type { ToolSummary } from '../../src/http/tool-catalog.ts'
import type { Target } from '../catalog.ts'
import { Examples } from '../chat/examples.tsx'
import { useLoaded } from '../loading.ts'
import { Facts } from '../parts/facts.tsx'
import { Folded } from '../parts/folded.tsx'
import { Heading } from '../parts/heading.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Section } from '../parts/page.tsx'
import { linkTo } from '../route.ts'
import { ask, config } from '../service.ts'
import { duration, number, visible } from '../text.ts'
import { LastDay } from './last-day.tsx'
import { Paused, Pausing } from './pausing.tsx'
import { Steps } from './steps.tsx'

/** The page of an agent, a team or a workflow. */
export function AgentPage({ target }: { target: Target }) {
  const { kind, name, description, model, provider, capabilities = [], members = [], examples } = target
  const hasSessions = config.value.plugins.includes('sessions') && config.value.identity !== null
  const listsRuns = config.value.notStored === null
  return (
    <>
      <Heading>{visible(name)}</Heading>
      {description && <p class="soft">{visible(description)}</p>}
      <Paused target={target} />
      <Facts
        facts={{
          Kind: kind,
          Model: model && visible(model),
          Provider: provider && visible(provider),
          Capabilities: capabilities.length > 0 && visible(capabilities.join(', ')),
          Members: members.length > 0 && visible(members.join(', ')),
          'Longest run': duration(config.value.timeoutMs),
          'Runs at once': `${number(config.value.maxRunningPerOwner)} of one client`,
          'Longest answer': target.maxOutputTokens && `${number(target.maxOutputTokens)} tokens`,
        }}
      />
      <Pausing target={target}>
        <a class="button" href={linkTo('chat', [kind, name])}>
          Chat
        </a>
        {listsRuns && (
          <a class="button" href={linkTo('runs', [], { kind, name })}>
            Runs
          </a>
        )}
        {hasSessions && (
          <a class="button" href={linkTo('sessions')}>
            Sessions
          </a>
        )}
      </Pausing>
      {examples && (
        <Section id="h-examples" title="Example prompts">
          <Examples kind={kind} name={name} examples={examples} />
        </Section>
      )}
      <LastDay target={target} />
      <Steps target={target} />
      <Tools target={target} />
      <Schema title="Input" value={target.inputSchema} />
      <Schema title="Output" value={target.outputSchema} />
    </>
  )
}

function Schema({ title, value }: { title: string; value: unknown }) {
  if (value === undefined) return null
  return (
    <Section id={`h-${title}`} title={title}>
      <Folded summary="Schema">{() => <JsonView value={value} label={`schema of the ${title}`} />}</Folded>
    </Section>
  )
}

/** The tools of an agent, with their schemas. */
function Tools({ target: { kind, name, tools: names = [] } }: { target: Target }) {
  const { value: known = [] } = useLoaded(`${kind} ${name} tools`, async signal =>
    names.length === 0
      ? []
      : ask<readonly ToolSummary[]>(`/console/tools/${kind}/${encodeURIComponent(name)}`, { signal }),
  )
  if (names.length === 0) return null
  return (
    <Section id="h-tools" title="Tools">
      <ul class="cards">
        {names.map(each => {
          const tool = known.find(one => one.name === each)
          return (
            <li key={each} class="card">
              <h3>{visible(each)}</h3>
              {tool?.description && <p class="soft">{visible(tool.description)}</p>}
              {tool?.needsApproval && <p class="small">A person may have to approve its calls.</p>}
              {tool?.parameters && (
                <Folded summary="Schema">
                  {() => <JsonView value={tool.parameters} label={`schema of ${each}`} />}
                </Folded>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
