import type { ComponentChildren } from 'preact'

/** Names with their values. Entries without a value are left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, ComponentChildren>> }) {
  const known = Object.entries(facts).filter(
    ([, value]) => value !== undefined && value !== null && value !== false,
  )
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
